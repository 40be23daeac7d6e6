package inspect_test

import (
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/inspect"
)

// One watcher runs in a worktree: a second one refuses until the first has gone, and the file of a
// dead process stops nobody.
func TestOneWatcher(t *testing.T) {
	w := verbtest.Unborn(t, "repo")
	s := w.Open()
	watching := func(when string, want bool) {
		t.Helper()
		if got := inspect.Watching(s.Repo); got != want {
			t.Errorf("%s: watching is %v", when, got)
		}
	}
	watching("before", false)
	release, err := inspect.BeWatcher(s.Repo)
	if err != nil {
		t.Fatal(err)
	}
	watching("with one", true)
	if _, err := inspect.BeWatcher(s.Repo); checkpoint.KindOf(err) != checkpoint.KindRefused {
		t.Errorf("a second watcher: %v", err)
	}
	release()
	watching("after it", false)
	// A process id that no process has, as after a kill.
	w.Write(".git/checkpoint/watcher", "999999999 0\n")
	watching("with a dead one", false)
	if release, err = inspect.BeWatcher(s.Repo); err != nil {
		t.Fatal(err)
	}
	watching("with the next one", true)
	release()
}
