package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"

	"git-checkpoint/internal/format/name"
)

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
