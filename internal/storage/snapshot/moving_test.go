package snapshot

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
)

// othersRollback makes it look as if another process, which runs, moves files in this worktree.
func othersRollback(t *testing.T, shot *Worktree) {
	t.Helper()
	other := exec.Command("sleep", "600") //nolint:noctx // it is killed below
	if err := other.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		other.Process.Kill() //nolint:errcheck // it may be over
		other.Wait()         //nolint:errcheck // it was killed
	})
	put(t, intentPath(shot.dir), "{}")
	put(t, ownerPath(shot.dir), fmt.Sprintln(other.Process.Pid, bornAt(other.Process.Pid)))
}

// While another process moves files, no capture is taken, however long that takes, and whether
// it began before the capture or during it.
func TestTakeDuringARollback(t *testing.T) {
	shot, err := New(repository(t))
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	looks := 0
	ready := func() error {
		if looks++; looks == 1 {
			othersRollback(t, shot)
		}
		return nil
	}
	for _, when := range []string{"during", "before"} {
		synctest.Test(t, func(t *testing.T) {
			if c, err := shot.Take(t.Context(), Rules{Ready: ready}); !errors.Is(err, ErrBusy) {
				t.Errorf("%s: %v, %v", when, c, err)
			}
		})
	}
	if looks != 1 {
		t.Errorf("%d captures were tried", looks)
	}
	if err := os.Remove(intentPath(shot.dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := shot.Take(t.Context(), Rules{}); err != nil {
		t.Error(err)
	}
}

// A capture knows that a rollback of another process was cut off, before it or during it.
func TestTakeOfHalfARollback(t *testing.T) {
	shot, err := New(repository(t))
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	half := func(when string, rules Rules, want bool) {
		t.Helper()
		if c, err := shot.Take(t.Context(), rules); err != nil || c.Half != want {
			t.Errorf("%s: %v, %v", when, c, err)
		}
	}
	intent := intentPath(shot.dir)
	half("none", Rules{}, false)
	half("during", Rules{Ready: func() error { put(t, intent, "{}"); return nil }}, true)
	half("before", Rules{}, true)
	half("taken back meanwhile", Rules{Ready: func() error { return os.Remove(intent) }}, true)
	put(t, intent, "{}")
	put(t, ownerPath(shot.dir), endedProcess(t)+" 1\n")
	half("of a process that is gone", Rules{}, true)
	if err := shot.own(); err != nil {
		t.Fatal(err)
	}
	half("our own", Rules{}, false)
}
