package main

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// zombie starts the program and leaves it dead and not waited for, as a container does
// whose first process collects no children.
func (w *world) zombie(args ...string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = w.dir, w.env
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { cmd.Wait() }) //nolint:errcheck // it was killed
	for {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/stat")
		if err != nil {
			w.t.Skip(err)
		}
		if _, rest, _ := bytes.Cut(stat, []byte(") ")); bytes.HasPrefix(rest, []byte("Z")) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// A zombie is dead: what it left in the middle of a rollback can be ended, and a lock of
// the index that it held is taken over.
func TestZombie(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it reads /proc")
	}
	for _, end := range []string{"--continue", "--abort"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			w, before, after := twoSides(t)
			w.env = append(w.env, "GIT_CHECKPOINT_FAILPOINT=place")
			w.zombie("git-checkpoint", "rollback", "1", "-y", "--branch")
			w.env = w.env[:len(w.env)-1]
			for _, args := range [][]string{{"git-checkpoint", "rollback", "1", "-y"}, {"git-checkpoint", "create"}} {
				if out, code := w.try(args...); code != 4 || !bytes.Contains([]byte(out), []byte("was cut off")) {
					t.Errorf("%v: exit code %d\n%s", args, code, out)
				}
			}
			w.run("git-checkpoint", "rollback", end)
			w.settle(end, before, after)
		})
	}
	t.Run("lock", func(t *testing.T) {
		t.Parallel()
		w, _, _ := twoSides(t)
		w.env = append(w.env, "GIT_CHECKPOINT_FAILPOINT=safety")
		w.zombie("git-checkpoint", "rollback", "1", "-y", "--branch")
		w.env = w.env[:len(w.env)-1]
		w.run("git-checkpoint", "create", "--always")
		w.run("git", "add", "edited")
	})
}
