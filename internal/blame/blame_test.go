package blame

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/name"
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

// blame returns the label, or else the subject, for each line of a file.
func (w *world) blame(req Request) (from []string) {
	w.Helper()
	err := w.serve(func(ctx context.Context, s *checkpoint.Service) error {
		lines, err := Blame(ctx, s, req)
		for i, l := range lines {
			if l.Line != i+1 {
				w.Errorf("line %d is called %d", i+1, l.Line)
			}
			if l.Label == "" {
				l.Label = l.Message
			}
			from = append(from, l.Label)
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return from
}

// Each line has the checkpoint that wrote it. One that is older has its commit, and so has one that
// came with a commit while the session ran.
func TestBlame(t *testing.T) {
	w := newWorld(t)
	w.write("file", "one\ntwo\n")
	w.save("two")
	w.write("file", "one\ntwo\nthree\n")
	w.git("commit", "-qam", "by hand")
	w.write("file", "zero\none\ntwo\nthree\n")
	w.save("zero")
	for range 2 { // made, and then remembered
		if got := strings.Join(w.blame(Request{Ref: "@", File: "file"}), ","); got != "cp-02,Begin,cp-01,by hand" {
			t.Errorf("lines are of %s", got)
		}
	}
	if got := strings.Join(w.blame(Request{Ref: "1", File: "file"}), ","); got != "Begin,cp-01" {
		t.Errorf("in step 1 lines are of %s", got)
	}
	// A chain that git threw away is made again.
	w.git("gc", "-q", "--prune=now")
	if got := strings.Join(w.blame(Request{Ref: "@", File: "file"}), ","); got != "cp-02,Begin,cp-01,by hand" {
		t.Errorf("after a gc lines are of %s", got)
	}
}

// A file that the checkpoint has not, an option that git does not know and a checkpoint to ignore
// that is not there are mistakes of the user.
func TestBlameRefuses(t *testing.T) {
	w := newWorld(t)
	w.save("one")
	for _, req := range []Request{{Ref: "@", File: "no-file"}, {Ref: "@", File: "file", Options: []string{"-L99,100"}}, {Ref: "@", File: "file", Ignore: []string{"nothing"}}} {
		err := w.serve(func(ctx context.Context, s *checkpoint.Service) error { _, err := Blame(ctx, s, req); return err })
		if kind := checkpoint.KindOf(err); kind != checkpoint.KindUsage && kind != checkpoint.KindNotFound {
			t.Errorf("%+v: %v", req, err)
		}
	}
}

// The log of a path has the checkpoints that changed it, newest first, and nothing from before.
func TestLog(t *testing.T) {
	w := newWorld(t)
	w.write("file", "two\n")
	w.save("first")
	w.write("other", "x\n")
	w.save("second")
	w.write("file", "three\n")
	w.save("third")
	var out bytes.Buffer
	if err := w.serve(func(ctx context.Context, s *checkpoint.Service) error {
		code, err := Log(ctx, s, "", []string{"--format=%s"}, []string{"file"}, inspect.IO{Out: &out, Err: &out})
		if code != 0 {
			t.Errorf("exit code %d", code)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "third") || !strings.Contains(lines[1], "first") {
		t.Errorf("log: %q", lines)
	}
}
