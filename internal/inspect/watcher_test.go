package inspect_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/inspect"
)

// One watcher runs in a worktree: a second one refuses until the first has gone, and the file of a
// dead process stops nobody.
func TestOneWatcher(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1"}
	git := exec.Command("git", "init", "-q", "-b", "main", root)
	git.Env = env
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s, err := checkpoint.Open(context.Background(), checkpoint.Options{Dir: root, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // only a test
	watching := func(when string, want bool) {
		t.Helper()
		if got := inspect.Watching(s); got != want {
			t.Errorf("%s: watching is %v", when, got)
		}
	}
	watching("before", false)
	release, err := inspect.BeWatcher(s)
	if err != nil {
		t.Fatal(err)
	}
	watching("with one", true)
	if _, err := inspect.BeWatcher(s); checkpoint.KindOf(err) != checkpoint.KindRefused {
		t.Errorf("a second watcher: %v", err)
	}
	release()
	watching("after it", false)
	// A process id that no process has, as after a kill.
	file := filepath.Join(root, ".git", "checkpoint", "watcher")
	if err := os.WriteFile(file, []byte("999999999 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	watching("with a dead one", false)
	if release, err = inspect.BeWatcher(s); err != nil {
		t.Fatal(err)
	}
	watching("with the next one", true)
	release()
}
