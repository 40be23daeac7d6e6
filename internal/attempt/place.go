package attempt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/linked"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/store"
)

// letter is a, b, … z, aa, ab, ….
func letter(i int) string {
	const letters = 26
	text := ""
	for n := i + 1; n > 0; n = (n - 1) / letters {
		text = string(rune('a'+(n-1)%letters)) + text
	}
	return text
}

// reserve finds the name, session and directory of an attempt, and keeps others from
// taking them.
func (f *forking) reserve(ctx context.Context, i int) (*place, error) {
	if f.req.Name != "" {
		p := f.placed(f.lettered(f.req.Name, i), i)
		return p, f.claim(ctx, p)
	}
	for n := range 26 * 26 {
		p := f.placed(f.stepName()+letter(n), i)
		err := f.claim(ctx, p)
		// What was typed is refused where it is taken; what was not typed may differ.
		var held *takenError
		if !errors.As(err, &held) || held.what == theSession && f.req.SessionName != "" || held.what == theDirectory && f.req.Dir != "" && f.req.Count <= 1 {
			return p, err
		}
	}
	return nil, &checkpoint.Error{Kind: checkpoint.KindRefused, Message: fmt.Sprintf("all names of attempts at step %s are taken", f.stepName()), Hints: []string{"--name gives another"}}
}

// stepName is what a person types for the checkpoint, as far as a name can have it.
func (f *forking) stepName() string {
	typed := checkpoint.TypedName(f.from.State, f.from.Entry)
	if typed == string(f.from.Entry.Checkpoint) {
		typed = fmt.Sprint(f.from.Entry.Step)
	}
	return typed
}

// longestBase leaves room in a session's name for what tells attempts apart.
const longestBase = 40

// placed is an attempt of a name, the i-th of this fork.
func (f *forking) placed(called string, i int) *place {
	p := &place{Attempt: Attempt{
		Name: called, FromSession: f.from.Session, From: f.from.Entry.Checkpoint, FromLabel: f.from.Entry.Label,
	}}
	base := string(f.from.Session)
	p.Session = name.Session(strings.TrimRight(base[:min(len(base), longestBase)], ".") + "-" + called)
	if f.req.SessionName != "" {
		p.Session = name.Session(f.lettered(f.req.SessionName, i))
	}
	top := f.s.Repo.WorkTree
	switch p.Worktree = filepath.Join(filepath.Dir(top), filepath.Base(top)+"-"+called); {
	case f.req.Dir == "":
	case f.req.Count <= 1:
		p.Worktree = f.req.Dir
	default:
		p.Worktree = filepath.Join(f.req.Dir, called)
	}
	if f.req.Branch != "" {
		p.Branch = f.lettered(f.req.Branch, i)
	}
	return p
}

// What may be taken.
const (
	theSession   = "session"
	theDirectory = "directory"
)

// takenError says that somebody has what an attempt was to be called.
type takenError struct {
	what string // session or directory
	err  *checkpoint.Error
}

func (e *takenError) Error() string { return e.err.Error() }

// Unwrap gives the error with its kind.
func (e *takenError) Unwrap() error { return e.err }

func taken(what, hint, format string, args ...any) error {
	return &takenError{what, &checkpoint.Error{Kind: checkpoint.KindUsage, Message: fmt.Sprintf(format, args...), Hints: []string{hint}}}
}

// claim reserves an attempt's name, and refuses it where session or directory are there.
func (f *forking) claim(ctx context.Context, p *place) error {
	if _, err := name.ParseSession(string(p.Session)); err != nil {
		return checkpoint.Usage("--session-name gives another", "%v", err)
	}
	_, err := f.s.Store.State(ctx, p.Session)
	var twin *store.TwinError
	switch {
	case err == nil:
		return taken(theSession, "--session-name gives another", "session %q exists already", p.Session)
	case !errors.Is(err, store.ErrNoSession):
		return checkpoint.Classify(err)
	}
	if err := f.s.Store.CheckTwin(ctx, p.Session); errors.As(err, &twin) {
		return taken(theSession, "--session-name gives another", "session %q differs from another in case only", p.Session)
	} else if err != nil {
		return checkpoint.Classify(err)
	}
	if !isFree(p.Worktree) {
		return taken(theDirectory, "name a directory that is not there: git checkpoint fork "+f.req.Ref+" DIR", "%q exists already", p.Worktree)
	}
	p.note, err = linked.Begin(f.s, linked.Note{Kind: linked.KindFork, Name: string(p.Session), Dir: p.Worktree, Session: p.Session})
	if errors.Is(err, linked.ErrTaken) {
		return taken(theSession, "`git checkpoint doctor` says whether it was cut off", "an attempt of session %q is being made", p.Session)
	}
	return err
}

// isFree reports whether git would make a worktree there.
func isFree(dir string) bool {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Lstat(dir) // a link to nowhere is something
		return errors.Is(err, fs.ErrNotExist)
	}
	return err == nil && len(entries) == 0
}
