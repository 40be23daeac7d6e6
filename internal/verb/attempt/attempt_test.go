package attempt

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/rollback"
)

// world adds what this package does to a repository.
type world struct{ *verbtest.World }

func newWorld(t *testing.T) world { return world{verbtest.New(t)} }

func TestLetter(t *testing.T) {
	for i, want := range map[int]string{0: "a", 1: "b", 25: "z", 26: "aa", 27: "ab", 51: "az", 52: "ba", 701: "zz", 702: "aaa"} {
		if got := letter(i); got != want {
			t.Errorf("%d is %q, want %q", i, got, want)
		}
	}
}

// fork makes attempts at a step.
func (w world) fork(req ForkRequest) (made []Attempt, err error) {
	req.Count, req.Jobs = max(req.Count, 1), 1
	w.Helper()
	err = w.Do(func(ctx context.Context, s *checkpoint.Service) error { made, err = Fork(ctx, s, req); return err })
	return made, err
}

// The attempts have the files of the step, whatever is here by now, and names that are free.
func TestFork(t *testing.T) {
	w := newWorld(t)
	w.Write("file", "two\n")
	w.Write("new", "new\n")
	w.Save("two")
	w.Write("file", "three\n")
	before := w.Git("status", "--porcelain")
	made, err := w.fork(ForkRequest{Ref: "1", Count: 2})
	if err != nil {
		t.Fatal(err)
	}
	more, err := w.fork(ForkRequest{Ref: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range append(made, more...) {
		if want := "1" + letter(i); a.Name != want || string(a.Session) != "main-"+want || a.Worktree != w.Dir+"-"+want || a.Steps != 0 || a.Unfinished {
			t.Errorf("attempt %d: %+v", i, a)
		}
		for file, want := range map[string]string{"file": "two\n", "new": "new\n"} {
			if got, err := os.ReadFile(filepath.Join(a.Worktree, file)); err != nil || string(got) != want {
				t.Errorf("%s: %s has %q, %v", a.Name, file, got, err)
			}
		}
	}
	if got := w.Git("status", "--porcelain"); got != before {
		t.Errorf("here: %s", got)
	}
	if err := w.Do(func(ctx context.Context, s *checkpoint.Service) error {
		all, err := List(ctx, s.Store)
		if len(all) != 3 {
			t.Errorf("listed: %+v", all)
		}
		for _, a := range all { // none has a step of its own yet
			if a.Steps != 0 || a.FromLabel != "cp-01" || a.Current == nil || a.Current.Label != "cp-01" || a.Unfinished {
				t.Errorf("listed: %+v", a)
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A directory, a name or a branch that is taken is refused, and leaves nothing behind.
func TestForkRefuses(t *testing.T) {
	w := newWorld(t)
	w.Save("one")
	w.Git("branch", "taken")
	full := filepath.Join(filepath.Dir(w.Dir), "full")
	if err := os.MkdirAll(filepath.Join(full, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	before := w.Git("for-each-ref") + w.Git("worktree", "list")
	for _, req := range []ForkRequest{{Ref: "1", Dir: full}, {Ref: "1", Branch: "taken"}, {Ref: "1", SessionName: "main"}, {Ref: "1", SessionName: "MAIN"}, {Ref: "1", Name: "no/name"}, {Ref: "9"}} {
		if made, err := w.fork(req); err == nil || len(made) > 0 {
			t.Errorf("%+v: %v, %v", req, made, err)
		}
	}
	if after := w.Git("for-each-ref") + w.Git("worktree", "list"); after != before {
		t.Errorf("left behind: %s", after)
	}
}

// A worktree that another process makes at the same place, after we looked, is not ours to remove.
func TestForkBesideAnother(t *testing.T) {
	w := newWorld(t)
	w.Save("one")
	err := w.Do(func(ctx context.Context, s *checkpoint.Service) error {
		f := &forking{s: s, req: ForkRequest{Ref: "1", Count: 1, Jobs: 1, Branch: "try"}}
		if err := f.prepare(ctx); err != nil {
			return err
		}
		p, err := f.reserve(ctx, 0)
		if err != nil {
			return err
		}
		w.Git("worktree", "add", "-q", "-b", "try", p.Worktree)
		if err := f.make(ctx, p); err == nil {
			t.Error("it was made twice")
		}
		if _, err := os.Stat(filepath.Join(p.Worktree, ".git")); err != nil {
			t.Error(err)
		}
		if now := w.Git("worktree", "list"); !strings.Contains(now, "[try]") {
			t.Errorf("now: %s", now)
		}
		if left, err := os.ReadDir(filepath.Join(w.Dir, ".git", "checkpoint", "worktrees")); err != nil || len(left) > 0 {
			t.Errorf("left: %v %v", left, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A promotion brings the files of an attempt here in a checkpoint of its step, and one undo takes
// both back.
func TestPromote(t *testing.T) {
	w := newWorld(t)
	w.Write("file", "two\n")
	w.Save("two")
	made, err := w.fork(ForkRequest{Ref: "1"})
	if err != nil {
		t.Fatal(err)
	}
	here := w.Dir
	w.Dir = made[0].Worktree
	w.Write("file", "tried\n")
	w.Save("tried")
	w.Dir = here
	w.Write("file", "here\n")
	err = w.Do(func(ctx context.Context, s *checkpoint.Service) error {
		p, err := PreparePromotion(ctx, s, PromoteRequest{Attempt: "1a"})
		if err != nil {
			return err
		}
		done, err := p.Apply(ctx)
		if err == nil && (done.Created.Record.Trigger != "promote" || done.Created.Record.Step != 2 || string(done.Created.Record.Session) != "main") {
			t.Errorf("made %+v", done.Created.Record)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Has("file", "tried\n")
	if err := w.Do(func(ctx context.Context, s *checkpoint.Service) error {
		undo, err := rollback.PrepareUndo(ctx, s, rollback.UndoRequest{})
		if err == nil {
			_, err = undo.Apply(ctx)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w.Has("file", "here\n")
}
