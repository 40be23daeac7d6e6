package attempt

// Each attempt needs a session name, a directory and perhaps a branch that nobody else has.
// Several forks may run at the same time, so looking is not enough: the note of package
// linked is what reserves the name.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/linked"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// letter returns a, b, ... z, aa, ab, ... for 0, 1, ...
func letter(i int) string {
	const letters = 26
	text := ""
	for n := i + 1; n > 0; n = (n - 1) / letters {
		text = string(rune('a'+(n-1)%letters)) + text
	}
	return text
}

// reserve chooses the name, session and directory of the i-th attempt, and reserves them
// against other processes. A name from the request is used as it is. Otherwise letters are
// tried until one is free.
func (f *forking) reserve(ctx context.Context, i int) (*place, error) {
	if f.req.Name != "" && !f.req.Next {
		p := f.placed(ctx, f.lettered(f.req.Name, i), i)
		_, err := f.claim(ctx, p)
		return p, err
	}
	for n := range 26 * 26 {
		p := f.placed(ctx, f.name(n), i)
		taken, err := f.claim(ctx, p)
		// An explicit session or directory that is taken is an error. Generated ones can be
		// replaced.
		if taken == "" || taken == theSession && f.req.SessionName != "" || taken == theDirectory && f.req.Dir != "" && f.req.Count <= 1 {
			return p, err
		}
	}
	return nil, checkpoint.Failure(checkpoint.KindRefused, "--name chooses another one", "all names for attempts at step %s are taken", f.stepName())
}

// name returns the n-th name to try.
func (f *forking) name(n int) string {
	if f.req.Name == "" {
		return f.stepName() + letter(n)
	}
	return Numbered(f.req.Name, n)
}

// Numbered returns the n-th of the names to try for an attempt: fix, fix-b, fix-c.
func Numbered(called string, n int) string {
	if n > 0 {
		called += "-" + letter(n)
	}
	return called
}

// DefaultDirectory returns the default directory of a worktree: a sibling of this one, because a worktree inside would
// show as untracked.
func DefaultDirectory(repo *git.Repo, called string) string {
	return filepath.Join(filepath.Dir(repo.WorkTree), filepath.Base(repo.WorkTree)+"-"+called)
}

// Foresee returns the attempts that Fork would make, unless another process takes a name before.
func Foresee(ctx context.Context, s *checkpoint.Service, req ForkRequest) ([]Attempt, error) {
	f := &forking{s: s, req: req, foreseen: map[name.Session]bool{}}
	if err := f.prepare(ctx); err != nil {
		return nil, err
	}
	planned := []Attempt{}
	for i := range max(req.Count, 1) {
		p, err := f.reserve(ctx, i)
		if p == nil {
			return nil, err
		}
		planned = append(planned, p.Attempt)
	}
	return planned, nil
}

// stepName returns the start of a generated name: what a person would type for the
// checkpoint.
func (f *forking) stepName() string {
	typed := checkpoint.TypedName(f.from.State, f.from.Entry)
	if !f.from.Entry.Milestone || typed == string(f.from.Entry.Checkpoint) { // 3+1 is no name of a session
		typed = fmt.Sprint(f.from.Entry.Step)
	}
	return typed
}

// placed returns the attempt of the given name, the i-th of this fork. Nothing is reserved yet.
func (f *forking) placed(ctx context.Context, called string, i int) *place {
	const longestBase = 40 // bounds the part of a session's name that comes from the forked session, so that the attempt's own name fits in as well
	p := &place{Attempt: Attempt{
		Name: called, FromSession: f.from.Session, From: f.from.Entry.Checkpoint, FromLabel: f.from.Entry.Label,
		Origin: checkpoint.Mentioned(ctx, f.s.Store, f.from.State, f.from.Entry),
	}}
	base := string(f.from.Session)
	p.Session = name.Session(strings.TrimRight(base[:min(len(base), longestBase)], ".") + "-" + called)
	if f.req.SessionName != "" {
		p.Session = name.Session(f.lettered(f.req.SessionName, i))
	}
	switch p.Worktree = DefaultDirectory(f.s.Repo, called); {
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

// What of an attempt may be taken already.
const (
	theSession   = "session"
	theDirectory = "directory"
)

// claim reserves the session of an attempt by a note, which is atomic. If the session or the directory
// exists already, it returns which of them, with the error.
func (f *forking) claim(ctx context.Context, p *place) (taken string, err error) {
	if _, err := name.ParseSession(string(p.Session)); err != nil {
		return "", checkpoint.Usage("--session-name chooses another one", "%v", err)
	}
	_, err = f.s.Store.State(ctx, p.Session)
	var twin *store.TwinError
	switch {
	case err == nil:
		return theSession, checkpoint.Usage("--session-name chooses another one", "session %q already exists", p.Session)
	case !errors.Is(err, store.ErrNoSession):
		return "", err
	}
	// On a file system without case, two sessions that differ in case only would share
	// their refs.
	if err := f.s.Store.CheckTwin(ctx, p.Session); errors.As(err, &twin) {
		return theSession, checkpoint.Usage("--session-name chooses another one", "the name of session %q differs from another one only in case", p.Session)
	} else if err != nil {
		return "", err
	}
	if !isFree(p.Worktree) {
		return theDirectory, checkpoint.Usage("name a directory that does not exist: git checkpoint fork "+f.req.Ref+" DIR", "%q already exists", p.Worktree)
	}
	if f.foreseen != nil {
		if f.foreseen[p.Session] {
			return theSession, nil
		}
		f.foreseen[p.Session] = true
		return "", nil
	}
	p.note, err = linked.Begin(f.s.Repo, linked.Note{Kind: linked.KindFork, Name: string(p.Session), Dir: p.Worktree, Session: p.Session})
	if errors.Is(err, linked.ErrTaken) {
		return theSession, checkpoint.Usage("`git checkpoint doctor` says if it was cut off", "another process is making an attempt with session %q", p.Session)
	}
	return "", err
}

// isFree reports whether git would create a worktree in this directory: it is missing or
// empty.
func isFree(dir string) bool {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Lstat(dir) // a dangling link is in the way, too
		return errors.Is(err, fs.ErrNotExist)
	}
	return err == nil && len(entries) == 0
}
