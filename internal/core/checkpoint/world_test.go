package checkpoint_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/retain"
	"git-checkpoint/internal/verb/rollback"
	"git-checkpoint/internal/verb/travel"
)

// Session of the tests that have one only.
const demo = name.Session("demo")

// clones is a world of several clones and bare remotes, with clocks of their own.
type clones struct {
	t       testing.TB
	root    string
	env     []string
	remotes []string
	all     []*clone
}

type clone struct {
	w     *clones
	dir   string
	other string // another worktree of it, if there is one
	at    string // where the next command runs; empty: in dir
	skew  time.Duration
	ticks *atomic.Int64
	seed  uint32
}

func newClones(t testing.TB, count, remotes int) *clones {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &clones{t: t, root: root, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1", "GIT_TEMPLATE_DIR=", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com", "GIT_AUTHOR_DATE=1770000000 +0000", "GIT_COMMITTER_DATE=1770000000 +0000",
	}}
	for i := range remotes {
		dir := filepath.Join(root, "remote"+string(rune('0'+i)))
		w.git(root, "init", "-q", "--bare", "-b", "main", dir)
		if err := os.Mkdir(filepath.Join(dir, "hooks"), 0o777); err != nil {
			t.Fatal(err)
		}
		w.remotes = append(w.remotes, dir)
	}
	seed := filepath.Join(root, "seed")
	w.git(root, "init", "-q", "-b", "main", seed)
	if err := os.WriteFile(filepath.Join(seed, "file"), []byte("one\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	w.git(seed, "add", ".")
	w.git(seed, "commit", "-qm", "one")
	for _, r := range w.remotes {
		w.git(seed, "push", "-q", r, "main")
	}
	ticks := new(atomic.Int64)
	for i := range count {
		dir := filepath.Join(root, "clone"+string(rune('a'+i)))
		w.git(root, "clone", "-q", seed, dir)
		w.git(dir, "remote", "remove", "origin")
		for j, r := range w.remotes {
			w.git(dir, "remote", "add", "r"+string(rune('0'+j)), r)
		}
		w.all = append(w.all, &clone{w: w, dir: dir, ticks: ticks, seed: uint32(i)*7919 + 17})
	}
	return w
}

func (w *clones) git(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v in %s: %v\n%s", args, filepath.Base(dir), err, out)
	}
	return strings.TrimSpace(string(out))
}

// open gives the clone's service; each call is like another run of the program.
func (c *clone) open(ctx context.Context) *checkpoint.Service {
	c.w.t.Helper()
	dir := c.dir
	if c.at != "" {
		dir = c.at
	}
	s, err := checkpoint.Open(ctx, checkpoint.Options{
		Dir: dir, Env: c.w.env,
		Now: func() time.Time {
			return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC).Add(time.Duration(c.ticks.Add(1))*time.Second + c.skew)
		},
		Random: func() uint32 { // no two ids are the same
			c.seed = c.seed*1664525 + 1013904223
			return c.seed >> 3
		},
	})
	if err != nil {
		c.w.t.Fatal(err)
	}
	return s
}

// do runs one thing in the clone and gives its error.
func (c *clone) do(f func(context.Context, *checkpoint.Service) error) error {
	ctx := context.Background()
	s := c.open(ctx)
	defer s.Close()
	return f(ctx, s)
}

func (c *clone) must(f func(context.Context, *checkpoint.Service) error) {
	c.w.t.Helper()
	if err := c.do(f); err != nil {
		c.w.t.Fatalf("%s: %v", filepath.Base(c.dir), err)
	}
}

// create makes a checkpoint in the session of the tests.
func (c *clone) create() name.ID {
	c.w.t.Helper()
	id, err := c.tryCreate()
	if err != nil {
		c.w.t.Fatalf("%s: %v", filepath.Base(c.dir), err)
	}
	return id
}

func (c *clone) tryCreate() (id name.ID, err error) {
	err = c.do(func(ctx context.Context, s *checkpoint.Service) error {
		d, err := create.Checkpoint(ctx, s, create.Request{Session: string(demo)})
		if err == nil {
			id = d.Record.ID
		}
		return err
	})
	return id, err
}

func (c *clone) rollback(to name.ID) error {
	return c.do(func(ctx context.Context, s *checkpoint.Service) error {
		r, err := rollback.Prepare(ctx, s, rollback.Request{Session: string(demo), Ref: string(to), Mode: rollback.ModeState})
		if err != nil {
			return err
		}
		_, err = r.Apply(ctx)
		return err
	})
}

func (c *clone) undo() error {
	return c.do(func(ctx context.Context, s *checkpoint.Service) error {
		r, err := rollback.PrepareUndo(ctx, s, rollback.UndoRequest{})
		if err != nil {
			return err
		}
		_, err = r.Apply(ctx)
		return err
	})
}

func (c *clone) sync(remote string) error {
	return c.do(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := travel.Sync(ctx, s, travel.Request{Remote: remote, Agree: agrees})
		return err
	})
}

func (c *clone) push(remote string) error {
	return c.do(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := travel.Push(ctx, s, travel.Request{Remote: remote, Agree: agrees})
		return err
	})
}

func (c *clone) fetch(remote string) error {
	return c.do(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := travel.Fetch(ctx, s, travel.Request{Remote: remote})
		return err
	})
}

func (c *clone) pin(id name.ID) error {
	return c.do(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := retain.Mark(ctx, s.Sessions, journal.KindPin, string(demo), []string{string(id)})
		return err
	})
}

func (c *clone) unpin(id name.ID) error {
	return c.do(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := retain.Mark(ctx, s.Sessions, journal.KindUnpin, string(demo), []string{string(id)})
		return err
	})
}

func (c *clone) drop(id name.ID) error {
	return c.do(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := verbtest.Delete(ctx, s, string(demo), []string{string(id)})
		return err
	})
}

// state is the fold as the clone has it; nil without a session.
func (c *clone) state() *journal.State {
	c.w.t.Helper()
	var st *journal.State
	c.must(func(ctx context.Context, s *checkpoint.Service) error {
		var err error
		if st, err = s.Store.State(ctx, demo); err != nil && checkpoint.KindOf(err) != checkpoint.KindFailed {
			return err
		}
		return nil
	})
	return st
}

// refs are the checkpoint refs of a repository and its journal.
func (w *clones) refs(dir string) map[string]string {
	w.t.Helper()
	found := map[string]string{}
	for line := range strings.Lines(w.git(dir, "for-each-ref", "--format=%(refname) %(objectname)", "refs/checkpoints") + "\n") {
		if ref, oid, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			found[strings.TrimPrefix(ref, "refs/checkpoints/demo/")] = oid
		}
	}
	return found
}

// held are the checkpoints of a repository, by their refs or in the archive.
func (w *clones) held(dir string) map[string]string {
	w.t.Helper()
	found := w.refs(dir)
	if found["archive"] != "" {
		for line := range strings.Lines(w.git(dir, "show", found["archive"]+":checkpoints") + "\n") {
			if id, oid, ok := strings.Cut(strings.TrimSpace(line), " "); ok && found[id] == "" {
				found[id] = oid
			}
		}
		delete(found, "archive")
	}
	return found
}

// notes is the tree of the notes of a repository; one that is empty is none.
func (w *clones) notes(dir string) string {
	w.t.Helper()
	if w.git(dir, "for-each-ref", "refs/notes/checkpoints") == "" {
		return ""
	}
	if tree := w.git(dir, "rev-parse", "refs/notes/checkpoints^{tree}"); tree != "4b825dc642cb6eb9a060e54bf8d69288fbee4904" {
		return tree
	}
	return ""
}

// agrees lets untracked files go to any remote of these tests.
func agrees(context.Context, clearance.FirstTime) error { return nil }
