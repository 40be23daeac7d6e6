package land

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// land plans and makes commits, and returns the answer.
func (w *world) land(req Request) (done *Answer, err error) {
	w.Helper()
	err = w.serve(func(ctx context.Context, s *checkpoint.Service) error {
		p, err := Prepare(ctx, s, req)
		if err != nil {
			return err
		}
		done, err = p.Apply(ctx)
		return err
	})
	return done, err
}

func labels(commits []Commit) (list []string) {
	for _, c := range commits {
		list = append(list, c.Label)
	}
	return list
}

// Each makes a commit for each step that changes something, with the files of that step, and names
// the others.
func TestEach(t *testing.T) {
	w := newWorld(t)
	w.write("file", "two\n")
	w.save("second")
	w.save("the same")
	w.write("new", "new\n")
	w.save("third")
	w.write("file", "not saved\n")
	done, err := w.land(Request{Each: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := labels(done.Commits); !slices.Equal(got, []string{"cp-01", "cp-03"}) || len(done.Left) != 1 || done.Left[0].Label != "cp-02" {
		t.Errorf("landed %v, left %v", got, done.Left)
	}
	if len(done.Untracked) != 1 || done.Untracked[0] != "new" {
		t.Errorf("not tracked before: %v", done.Untracked)
	}
	if got := w.git("log", "--reverse", "--format=%s", "main"); got != "Begin\nsecond\nthird" {
		t.Errorf("on main: %s", got)
	}
	if got := w.git("show", "main~1:file") + " " + w.git("ls-tree", "--name-only", "main~1"); got != "two file" {
		t.Errorf("in the commit of the first step: %s", got)
	}
	if got := w.git("status", "--porcelain"); got != "M file" {
		t.Errorf("what was not saved: %s", got)
	}
}

// A range has both of its ends, and together they are one commit on a new branch, which leaves the
// current one alone.
func TestTogetherOnABranch(t *testing.T) {
	w := newWorld(t)
	for _, text := range []string{"two", "three", "four"} {
		w.write("file", text+"\n")
		w.save(text)
	}
	before := w.git("rev-parse", "main")
	done, err := w.land(Request{Range: "1..2", Branch: "queue", Message: "Both"})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.git("log", "--format=%s", "main..queue"); got != "Both" || done.Safety != "" {
		t.Errorf("on queue: %s, safety checkpoint %q", got, done.Safety)
	}
	if got := w.git("show", "queue:file"); got != "three" {
		t.Errorf("file has %q", got)
	}
	if w.git("rev-parse", "main") != before || w.git("status", "--porcelain") != "M file" {
		t.Error("main or the index has changed")
	}
	if _, err := w.land(Request{Range: "3..2", Branch: "backward"}); checkpoint.KindOf(err) != checkpoint.KindUsage {
		t.Errorf("a range from its end: %v", err)
	}
}

// What cannot be landed is refused by its kind, and nothing is changed.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	w.write("file", "two\n")
	first := w.save("first")
	w.write("file", "three\n")
	w.save("second")
	var safety name.ID
	if err := w.serve(func(ctx context.Context, s *checkpoint.Service) error {
		plan, err := rollback.Prepare(ctx, s, rollback.Request{Ref: string(first)})
		if err != nil {
			return err
		}
		done, err := plan.Apply(ctx)
		if err == nil {
			safety = done.Safety
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w.git("branch", "taken")
	before := w.git("for-each-ref")
	for _, c := range []struct {
		req  Request
		kind checkpoint.Kind
	}{
		{Request{Range: string(safety)}, checkpoint.KindRefused},
		{Request{Range: "7"}, checkpoint.KindNotFound},
		{Request{Branch: "taken"}, checkpoint.KindUsage},
		{Request{Branch: "a..b"}, checkpoint.KindUsage},
	} {
		_, err := w.land(c.req)
		var known *checkpoint.Error
		if !errors.As(err, &known) || known.Kind != c.kind {
			t.Errorf("%+v: %v", c.req, err)
		}
	}
	if w.git("for-each-ref") != before {
		t.Error("a ref has changed")
	}
	if _, err := w.land(Request{}); err != nil {
		t.Fatal(err)
	}
	w.save("as landed")
	if _, err := w.land(Request{}); checkpoint.KindOf(err) != checkpoint.KindNothing {
		t.Errorf("landing twice: %v", err)
	}
}
