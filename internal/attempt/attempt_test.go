package attempt

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/rollback"
)

// world is a repository with one commit, and a clock that goes on by a second with each look.
type world struct {
	*testing.T
	dir   string
	ticks int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, dir: filepath.Join(root, "repo")}
	if err := os.Mkdir(w.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	w.git("init", "-q", "-b", "main")
	w.write("file", "one\n")
	w.git("add", ".")
	w.git("commit", "-qm", "Begin")
	return w
}

func (w *world) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(w.dir), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "TZ=UTC",
		"GIT_AUTHOR_NAME=Kim", "GIT_AUTHOR_EMAIL=kim@example.com", "GIT_COMMITTER_NAME=Kim", "GIT_COMMITTER_EMAIL=kim@example.com",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
	}
}

func (w *world) git(args ...string) string {
	w.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.dir, w.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) write(file, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, file), []byte(text), 0o666); err != nil {
		w.Fatal(err)
	}
}

// serve opens the repository, as each run of the program does, and returns the error of do.
func (w *world) serve(do func(context.Context, *checkpoint.Service) error) error {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
	defer cancel()
	s, err := checkpoint.Open(ctx, checkpoint.Options{Dir: w.dir, Env: w.env(), Now: func() time.Time {
		w.ticks++
		return time.Date(2026, 11, 20, 9, 0, w.ticks, 0, time.UTC)
	}})
	if err != nil {
		w.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // only a test
	return do(ctx, s)
}

// save makes a checkpoint, a milestone of the next step.
func (w *world) save(message string) (id name.ID) {
	w.Helper()
	err := w.serve(func(ctx context.Context, s *checkpoint.Service) error {
		made, err := create.Checkpoint(ctx, s, create.Request{Message: message})
		if err == nil {
			id = made.Record.ID
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return id
}

func TestLetter(t *testing.T) {
	for i, want := range map[int]string{0: "a", 1: "b", 25: "z", 26: "aa", 27: "ab", 51: "az", 52: "ba", 701: "zz", 702: "aaa"} {
		if got := letter(i); got != want {
			t.Errorf("%d is %q, want %q", i, got, want)
		}
	}
}

// fork makes attempts at a step.
func (w *world) fork(req ForkRequest) (made []Attempt, err error) {
	req.Count, req.Jobs = max(req.Count, 1), 1
	w.Helper()
	err = w.serve(func(ctx context.Context, s *checkpoint.Service) error { made, err = Fork(ctx, s, req); return err })
	return made, err
}

// The attempts have the files of the step, whatever is here by now, and names that are free.
func TestFork(t *testing.T) {
	w := newWorld(t)
	w.write("file", "two\n")
	w.write("new", "new\n")
	w.save("two")
	w.write("file", "three\n")
	before := w.git("status", "--porcelain")
	made, err := w.fork(ForkRequest{Ref: "1", Count: 2})
	if err != nil {
		t.Fatal(err)
	}
	more, err := w.fork(ForkRequest{Ref: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range append(made, more...) {
		if want := "1" + letter(i); a.Name != want || string(a.Session) != "main-"+want || a.Worktree != w.dir+"-"+want || a.Steps != 0 || a.Unfinished {
			t.Errorf("attempt %d: %+v", i, a)
		}
		for file, want := range map[string]string{"file": "two\n", "new": "new\n"} {
			if got, err := os.ReadFile(filepath.Join(a.Worktree, file)); err != nil || string(got) != want {
				t.Errorf("%s: %s has %q, %v", a.Name, file, got, err)
			}
		}
	}
	if got := w.git("status", "--porcelain"); got != before {
		t.Errorf("here: %s", got)
	}
	if err := w.serve(func(ctx context.Context, s *checkpoint.Service) error {
		all, err := List(ctx, s)
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
	w.save("one")
	w.git("branch", "taken")
	full := filepath.Join(filepath.Dir(w.dir), "full")
	if err := os.MkdirAll(filepath.Join(full, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	before := w.git("for-each-ref") + w.git("worktree", "list")
	for _, req := range []ForkRequest{{Ref: "1", Dir: full}, {Ref: "1", Branch: "taken"}, {Ref: "1", SessionName: "main"}, {Ref: "1", SessionName: "MAIN"}, {Ref: "1", Name: "no/name"}, {Ref: "9"}} {
		if made, err := w.fork(req); err == nil || len(made) > 0 {
			t.Errorf("%+v: %v, %v", req, made, err)
		}
	}
	if after := w.git("for-each-ref") + w.git("worktree", "list"); after != before {
		t.Errorf("left behind: %s", after)
	}
}

// A promotion brings the files of an attempt here in a checkpoint of its step, and one undo takes
// both back.
func TestPromote(t *testing.T) {
	w := newWorld(t)
	w.write("file", "two\n")
	w.save("two")
	made, err := w.fork(ForkRequest{Ref: "1"})
	if err != nil {
		t.Fatal(err)
	}
	here := w.dir
	w.dir = made[0].Worktree
	w.write("file", "tried\n")
	w.save("tried")
	w.dir = here
	w.write("file", "here\n")
	err = w.serve(func(ctx context.Context, s *checkpoint.Service) error {
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
	w.has("file", "tried\n")
	if err := w.serve(func(ctx context.Context, s *checkpoint.Service) error {
		undo, err := rollback.PrepareUndo(ctx, s, rollback.UndoRequest{})
		if err == nil {
			_, err = undo.Apply(ctx)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w.has("file", "here\n")
}

func (w *world) has(file, want string) {
	w.Helper()
	if got, err := os.ReadFile(filepath.Join(w.dir, file)); err != nil || string(got) != want {
		w.Errorf("%s has %q, %v", file, got, err)
	}
}
