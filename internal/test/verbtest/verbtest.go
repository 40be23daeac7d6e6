// Package verbtest gives the test of a verb a repository of its own: a real one, made by git, with a
// fixed identity and a clock and ids that are the same in every run. Nothing of the machine's
// configuration is read. Only tests import this package.
//
// New makes a repository with a commit, Unborn one without. World.Open opens it as one run of the
// program does.
package verbtest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/retain"
)

// World is a repository, and the program in it. A method without an error ends the test if it does
// not work.
type World struct {
	testing.TB
	Root    string            // holds the repository, and is the home directory; a path without symbolic links
	Dir     string            // the worktree that git and the program run in; a test may choose another
	Env     []string          // the environment of both
	Between func(step string) // is called between the steps of the program; may be nil
	Warned  []string          // what the program warned of

	mu     sync.Mutex    // several goroutines may ask for the time
	passed time.Duration // since the beginning
	random uint32
}

// New makes a repository with one commit: a file called file with the line "one".
func New(t testing.TB) *World {
	t.Helper()
	w := Unborn(t, "repo")
	w.Begin()
	return w
}

// Unborn makes a repository without a commit, in a directory of this name.
func Unborn(t testing.TB, dir string) *World {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir()) // git resolves links, so paths can be compared
	if err != nil {
		t.Fatal(err)
	}
	w := &World{TB: t, Root: root, Dir: filepath.Join(root, dir), Env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1", "GIT_TEMPLATE_DIR=", "TZ=UTC",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
	}}
	if err := os.Mkdir(w.Dir, 0o777); err != nil { //nolint:gosec // as git makes it
		t.Fatal(err)
	}
	w.Git("init", "-q", "-b", "main")
	return w
}

// Begin makes the commit that New begins with.
func (w *World) Begin() {
	w.Helper()
	w.Write("file", "one\n")
	w.Git("add", ".")
	w.Git("commit", "-qm", "Begin")
}

// Git runs git in Dir and returns what it prints, without space around it.
func (w *World) Git(args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "git", args...)
	cmd.Dir, cmd.Env = w.Dir, w.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Write writes a file. Its path is relative to Dir; its directory is made.
func (w *World) Write(file, text string) {
	w.Helper()
	path := filepath.Join(w.Dir, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		w.Fatal(err)
	}
}

// Read returns what a file has. Its path is relative to Dir.
func (w *World) Read(file string) string {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.Dir, file))
	if err != nil {
		w.Fatal(err)
	}
	return string(text)
}

// Has reports an error unless a file has this text.
func (w *World) Has(file, want string) {
	w.Helper()
	if got, err := os.ReadFile(filepath.Join(w.Dir, file)); err != nil || string(got) != want {
		w.Errorf("%s has %q, not %q, %v", file, got, want, err)
	}
}

// Exists reports whether something is at a path relative to Dir.
func (w *World) Exists(file string) bool {
	w.Helper()
	_, err := os.Lstat(filepath.Join(w.Dir, file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Fatal(err)
	}
	return err == nil
}

// Remove removes a file, or a directory with all below it. Its path is relative to Dir.
func (w *World) Remove(file string) {
	w.Helper()
	if err := os.RemoveAll(filepath.Join(w.Dir, file)); err != nil {
		w.Fatal(err)
	}
}

// Object is the path of the file of a loose object, relative to Dir.
func (w *World) Object(oid name.OID) string {
	return filepath.Join(".git", "objects", string(oid[:2]), string(oid[2:]))
}

// Open opens the repository as one run of the program does. It is closed when the test is over.
func (w *World) Open() *checkpoint.Service {
	w.Helper()
	s := w.open()
	w.Cleanup(func() { s.Close() })
	return s
}

// Do is one run of the program: it opens the repository for do, and returns the error of do.
func (w *World) Do(do func(context.Context, *checkpoint.Service) error) error {
	w.Helper()
	s := w.open()
	defer s.Close()
	return do(w.Context(), s)
}

// Must is Do for what has to work.
func (w *World) Must(do func(context.Context, *checkpoint.Service) error) {
	w.Helper()
	if err := w.Do(do); err != nil {
		w.Fatal(err)
	}
}

// Create makes a checkpoint.
func (w *World) Create(req create.Request) *checkpoint.Detail {
	w.Helper()
	var made *checkpoint.Detail
	w.Must(func(ctx context.Context, s *checkpoint.Service) (err error) {
		made, err = create.Checkpoint(ctx, s, req)
		return err
	})
	return made
}

// Save makes a checkpoint, the milestone of the next step, and returns its id.
func (w *World) Save(message string) name.ID {
	w.Helper()
	return w.Create(create.Request{Message: message}).Record.ID
}

// Later lets time pass.
func (w *World) Later(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.passed += by
}

func (w *World) open() *checkpoint.Service {
	w.Helper()
	s, err := checkpoint.Open(w.Context(), checkpoint.Options{Dir: w.Dir, Env: w.Env, Now: w.now, Random: w.draw, Warn: w.warn, Between: w.Between})
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// now goes on by a second with each look, so that no two events are at the same time.
func (w *World) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.passed += time.Second
	return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC).Add(w.passed)
}

// draw returns the numbers of a linear congruential generator.
func (w *World) draw() uint32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.random = w.random*1664525 + 1013904223
	return w.random >> 3 // its low bits repeat soon
}

func (w *World) warn(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Warned = append(w.Warned, line)
}

// Delete removes checkpoints of a session.
func Delete(ctx context.Context, s *checkpoint.Service, session string, refs []string) (*retain.Removed, error) {
	plan, err := retain.PlanDelete(ctx, s.Sessions, session, refs)
	if err != nil {
		return nil, err
	}
	return plan.Apply(ctx, s)
}
