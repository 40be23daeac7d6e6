package rollback_test

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
	"git-checkpoint/internal/rollback"
)

// world is a repository with one commit. Each service is like another run of the program.
type world struct {
	t      *testing.T
	dir    string
	env    []string
	ticks  int
	random uint32
	warned []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: filepath.Join(root, "repo"), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
	}}
	if err := os.Mkdir(w.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	w.git("init", "-q", "-b", "main")
	w.commit("one")
	return w
}

// git runs git in the repository and returns what it prints.
func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// write puts content into a file.
func (w *world) write(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o666); err != nil {
		w.t.Fatal(err)
	}
}

// read returns the content of a file.
func (w *world) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// refs returns all refs and HEAD.
func (w *world) refs() string {
	w.t.Helper()
	return w.git("for-each-ref") + "\n" + w.read(".git/HEAD")
}

// commit commits the content in the file "file" and returns the commit.
func (w *world) commit(content string) string {
	w.t.Helper()
	w.write("file", content)
	w.git("add", "-A")
	w.git("commit", "-qm", content)
	return w.git("rev-parse", "HEAD")
}

// do runs one thing with a new service. At each step of the program it calls between, if there is
// one.
func (w *world) do(between func(step string), f func(context.Context, *checkpoint.Service) error) error {
	w.t.Helper()
	s, err := checkpoint.Open(context.Background(), checkpoint.Options{
		Dir: w.dir, Env: w.env, Between: between, Warn: func(text string) { w.warned = append(w.warned, text) },
		Now: func() time.Time {
			w.ticks++
			return time.Date(2026, 11, 20, 9, 0, w.ticks, 0, time.UTC)
		},
		Random: func() uint32 {
			w.random = w.random*1664525 + 1013904223
			return w.random >> 3
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // only a test
	return f(context.Background(), s)
}

// create makes a checkpoint.
func (w *world) create() {
	w.t.Helper()
	err := w.do(nil, func(ctx context.Context, s *checkpoint.Service) error {
		_, err := create.Checkpoint(ctx, s, create.Request{})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// rollBack goes to the first checkpoint. Planned is called when the plan is there and nothing has
// been changed.
func (w *world) rollBack(req rollback.Request, planned func(), between func(step string)) error {
	w.t.Helper()
	return w.do(between, func(ctx context.Context, s *checkpoint.Service) error {
		req.Ref = "1"
		r, err := rollback.Prepare(ctx, s, req)
		if err != nil {
			return err
		}
		planned()
		_, err = r.Apply(ctx)
		return err
	})
}
