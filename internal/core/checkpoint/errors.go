package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
)

// Kind classifies an error. The command line maps each kind to one exit code.
type Kind string

// The kinds. Their text is what `--json` prints, so it must not change.
const (
	KindFailed    Kind = "failed"      // exit code 1: anything without a better kind
	KindNotFound  Kind = "not_found"   // 3: no such checkpoint or session
	KindRefused   Kind = "refused"     // 4: it would lose data, or the user did not confirm
	KindInvalid   Kind = "invalid"     // 5: something stored is damaged or invalid
	KindRejected  Kind = "rejected"    // 6: the workflow rejects the state or transition
	KindConflict  Kind = "conflict"    // 7: conflict with a remote
	KindNothing   Kind = "nothing"     // 8: there was nothing to do
	KindUnusable  Kind = "unusable"    // 128: no usable repository
	KindUsage     Kind = "usage"       // 129: the request itself is wrong
	KindInterrupt Kind = "interrupted" // 130: interrupted by a signal
)

// Error is an error with its kind and with hints for the user. Verbs return errors of this type where
// they know more than the cause says, and else the errors of the layers below as they are. Whoever
// reports an error asks KindOf and HintsOf.
type Error struct {
	Kind    Kind
	Message string   // what went wrong; empty: the text of Err says it
	Hints   []string // what to type or do next, one line each
	Err     error
}

// Error returns the message, then the cause, separated by a colon.
func (e *Error) Error() string {
	switch {
	case e.Err == nil:
		return e.Message
	case e.Message == "":
		return e.Err.Error()
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Lines returns the message of an error and a line for each hint, for somebody who sees neither colors
// nor JSON: in a chat, or a model. For nil it returns none.
func Lines(err error) (lines []string) {
	if err == nil {
		return nil
	}
	err = classified(err)
	lines = append(lines, err.Error())
	for _, hint := range HintsOf(err) {
		lines = append(lines, "hint: "+hint)
	}
	return lines
}

// KindOf returns the kind of any error but nil. An error without a kind is KindFailed.
func KindOf(err error) Kind {
	e, is := errors.AsType[*Error](classified(err))
	if !is {
		return KindFailed
	}
	return e.Kind
}

// HintsOf returns what the user can type or do about an error, one line each.
func HintsOf(err error) []string {
	e, is := errors.AsType[*Error](classified(err))
	if !is {
		return nil
	}
	return slices.Clone(e.Hints)
}

// MessageOf returns the text of an error without its hints.
func MessageOf(err error) string { return classified(err).Error() }

// WithHints returns an error with other hints: those that change makes of the ones it has. It
// returns nil for nil.
func WithHints(err error, change func(hints []string) []string) error {
	err = classified(err)
	if e, is := errors.AsType[*Error](err); is {
		e.Hints = change(e.Hints)
	}
	return err
}

// SpoiltHint returns the hint for a damaged intent file: it is not known how far the rollback got,
// so neither --continue nor --abort can work. The path is that of the intent file.
func SpoiltHint(path string) string {
	return "the newest safety checkpoint holds what was there before: `git checkpoint list --hidden` shows it; to continue with the files as they are now, remove " + path
}

// IsFailure reports whether a create with this kind of error failed for a reason that the user
// could fix, in contrast to "nothing to do", a wrong request or an interrupt.
func IsFailure(k Kind) bool {
	return k == KindFailed || k == KindRejected || k == KindRefused || k == KindInvalid
}

// permissionHints says who owns the file that this account may not access, and what to do about it.
func permissionHints(err error) []string {
	at := ""
	if e, is := errors.AsType[*fs.PathError](err); is && errors.Is(e, fs.ErrPermission) {
		at = e.Path
	} else if found := regexp.MustCompile(`'(/[^\n]+)'.*: Permission denied`).FindStringSubmatch(err.Error()); found != nil {
		at = found[1]
	}
	if !filepath.IsAbs(at) {
		return nil
	}
	info, statErr := os.Lstat(at)
	for statErr != nil && at != filepath.Dir(at) {
		at = filepath.Dir(at)
		info, statErr = os.Lstat(at)
	}
	if statErr != nil {
		return nil
	}
	uid, known := ownerOf(info)
	if !known {
		return nil
	}
	inside := strings.Contains(at+"/", "/.git/") // of what is not in a git directory, nothing is known that would be better
	switch {
	case uid == os.Geteuid() && inside:
		return []string{fmt.Sprintf("%s is yours, and cannot be written: `chmod u+rwX %s` changes that", at, name.Quoted(at))}
	case uid == os.Geteuid():
		return nil
	case !inside:
		return []string{whose(at, uid)}
	}
	// Name the topmost directory that belongs to the same account: everything in it was made by a
	// run as that account.
	for parent := filepath.Dir(at); filepath.Base(at) != ".git"; parent = filepath.Dir(at) {
		above, err := os.Lstat(parent)
		if of, _ := ownerOf(above); err != nil || of != uid {
			break
		}
		at = parent
	}
	return []string{whose(at, uid) + fmt.Sprintf("; `sudo chown -R %s %s` makes it yours, and several accounts need a clone each", account(os.Geteuid()), name.Quoted(at))}
}

// unusableHints says what to do about a repository that git does not open.
func unusableHints(err error) []string {
	said := err.Error()
	if found := regexp.MustCompile(`dubious ownership in repository at '(/[^\n]+)'`).FindStringSubmatch(said); found != nil {
		hints := []string{fmt.Sprintf("`git config --global --add safe.directory %s` trusts it", name.Quoted(found[1]))}
		if info, err := os.Lstat(found[1]); err == nil {
			if uid, known := ownerOf(info); known && uid != os.Geteuid() {
				hints[0] = whose(found[1], uid) + "; " + hints[0]
			}
		}
		return hints
	}
	switch {
	case strings.Contains(said, `/.git" is a bare repository`): // worktree tools leave it like this
		return []string{"`git config core.bare false` there, if it has a worktree"}
	case IsOutside(err):
		return []string{"`git init` makes a repository here"}
	// The link in .git of a linked worktree leads nowhere.
	case strings.Contains(said, "not a git repository: ") && strings.Contains(said, "/worktrees/"):
		return []string{"if the repository was moved, `git worktree repair` with the path of this worktree, run in the repository, connects the two again"}
	}
	return permissionHints(err)
}

// IsOutside reports whether an error says that there is no repository here.
func IsOutside(err error) bool {
	return err != nil && strings.Contains(err.Error(), "not a git repository (or any")
}

// IsOthers reports whether a file belongs to another account.
func IsOthers(info fs.FileInfo) bool {
	uid, known := ownerOf(info)
	return known && uid != os.Geteuid()
}

// whose says whom a path belongs to and who asks.
func whose(path string, uid int) string {
	return fmt.Sprintf("%s belongs to %s, and you are %s", path, account(uid), account(os.Geteuid()))
}

// account returns the name of an account, or its number if it has none.
func account(uid int) string {
	if u, err := user.LookupId(fmt.Sprint(uid)); err == nil {
		return u.Username
	}
	return fmt.Sprint(uid)
}
