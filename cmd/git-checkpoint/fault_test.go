//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/scripttest"
)

// rounds is how often a test of chance is repeated. GIT_CHECKPOINT_ROUNDS=20 is for a
// night, not for every run.
func rounds(few int) int {
	if n, err := strconv.Atoi(os.Getenv("GIT_CHECKPOINT_ROUNDS")); err == nil {
		return n
	}
	return few
}

// A polite signal at any step of a rollback ends it on one side or the other, with
// nothing left to be finished; one at a create leaves all of it or nothing.
func TestTerminated(t *testing.T) {
	for i, step := range checkpoint.Failpoints[:21] {
		command := []string{"git-checkpoint", "rollback", "1", "-y", "--branch"}
		switch {
		case i < 3:
			command = []string{"git-checkpoint", "create", "-m", "two"}
		case i >= 19:
			command = []string{"git-checkpoint", "delete", "1", "-y"}
		}
		t.Run(step, func(t *testing.T) {
			scripttest.OneIn(t, 9, i)
			t.Parallel()
			w, before, after := twoSides(t)
			had := w.count()
			w.env = append(w.env, "GIT_CHECKPOINT_FAILPOINT="+step+[]string{":1:term", ":1:hup"}[i%2])
			out, code := w.try(command...)
			w.env = w.env[:len(w.env)-1]
			if code != 0 && code != 130 {
				t.Errorf("exit code %d\n%s", code, out)
			}
			now := w.look()
			if now != after && (command[1] != "rollback" || now != before) {
				t.Fatalf("neither side is there:\n%s", now)
			}
			if command[1] == "rollback" && (code == 0) != (now == before) {
				t.Errorf("exit code %d, and this is there:\n%s", code, now)
			}
			made := w.count() - had
			if command[1] == "create" && (code == 0) != (made == 1) || command[1] == "delete" && (code == 0) != (made == -1) {
				t.Errorf("exit code %d, and %d more checkpoints", code, made)
			}
			if out, code := w.try("git-checkpoint", "rollback", "--continue"); code != 3 {
				t.Errorf("something is left to be finished: exit code %d\n%s", code, out)
			}
			w.whole()
		})
	}
}

// A prune or delete that is killed has dropped all that it would or nothing.
func TestKilledDelete(t *testing.T) {
	for _, step := range checkpoint.Failpoints[19:21] {
		for _, command := range [][]string{{"git-checkpoint", "delete", "1", "-y"}, {"git-checkpoint", "prune", "-y", "--keep", "1", "--gc"}} {
			t.Run(step+" "+command[1], func(t *testing.T) {
				t.Parallel()
				w, _, after := twoSides(t)
				w.run("git-checkpoint", "create", "-m", "two")
				w.env = append(w.env, "GIT_CHECKPOINT_FAILPOINT="+step)
				if out, code := w.try(command...); code != -1 {
					t.Fatalf("not killed at %q: exit code %d\n%s", step, code, out)
				}
				w.env = w.env[:len(w.env)-1]
				want := map[string]int{"doomed": 2, "dropped": 1}[step]
				if got := w.count(); got != want || w.look() != after {
					t.Errorf("%d checkpoints are there, not %d, or the worktree is another", got, want)
				}
				w.whole()
			})
		}
	}
}

// count is how many checkpoints plain git sees.
func (w *world) count() (n int) {
	w.t.Helper()
	for ref := range strings.FieldsSeq(w.run("git", "for-each-ref", "--format=%(refname)", "refs/checkpoints")) {
		if !strings.HasSuffix(ref, "/journal") {
			n++
		}
	}
	return n
}

// whole demands that the repository is sound, that no lock is left, and that the next
// commands work.
func (w *world) whole() {
	w.t.Helper()
	w.run("git", "fsck", "--strict", "--no-dangling")
	for _, lock := range w.locks() {
		w.t.Errorf("%s was left", lock)
	}
	n := w.count()
	w.run("git-checkpoint", "create", "-m", "afterwards")
	if got := w.count(); got != n+1 {
		w.t.Errorf("%d checkpoints after a create, not %d", got, n+1)
	}
	w.run("git-checkpoint", "list")
	w.run("git-checkpoint", "history")
	w.run("git", "add", "-A")
}

// locks are the lock files in the git directory.
func (w *world) locks() (found []string) {
	w.t.Helper()
	err := filepath.WalkDir(strings.TrimSpace(w.run("git", "rev-parse", "--absolute-git-dir")), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".lock") {
			found = append(found, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// shoot starts a command in a process group of its own, and ends all of the group
// after a time.
func (w *world) shoot(after time.Duration, signal syscall.Signal, args ...string) (output string, code int) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = w.dir, w.env, &syscall.SysProcAttr{Setpgid: true}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { syscall.Kill(-cmd.Process.Pid, signal) }) //nolint:errcheck // it may be over
	defer timer.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// Whatever is killed whenever, together with the git processes that it started: one of
// the two sides comes back, no checkpoint is half, and a lock that stands in the way is
// named. The moments are drawn.
func TestKilledAnywhere(t *testing.T) {
	for i, command := range [][]string{
		{"create", "-m", "two"}, {"rollback", "1", "-y", "--branch"}, {"undo", "-y"}, {"delete", "2", "-y"}, {"prune", "-y", "--keep", "1"},
	} {
		for k, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
			t.Run(command[0]+" "+signal.String(), func(t *testing.T) {
				scripttest.OneIn(t, 4, 2*i+k)
				t.Parallel()
				for round := range rounds(1) {
					w, before, after := twoSides(t)
					w.run("git-checkpoint", "create", "-m", "second")
					if command[0] == "undo" {
						w.run("git-checkpoint", "rollback", "1", "-y", "--branch")
					}
					random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(round))) // no secret
					delay := time.Duration(random.IntN(60_000)) * time.Microsecond
					out, code := w.shoot(delay, signal, append([]string{"git-checkpoint"}, command...)...)
					t.Logf("%v after %v: exit code %d", command, delay, code)
					w.recover(out, before, after)
				}
			})
		}
	}
}

var lockNamed = regexp.MustCompile(`"([^"]+\.lock)"`)

// recover does what a user would: it finishes what was cut off, removes a lock that
// the program names, and looks whether one of the sides is there.
func (w *world) recover(said, before, after string) {
	w.t.Helper()
	if out, code := w.try("git-checkpoint", "rollback", "--continue"); code != 0 && code != 3 {
		m := lockNamed.FindStringSubmatch(out)
		if m == nil {
			w.t.Fatalf("rollback --continue: exit code %d\n%s\nbefore that: %s", code, out, said)
		}
		w.remove(m[1])
		if out, code := w.try("git-checkpoint", "rollback", "--continue"); code != 0 && code != 3 { // it may have gone back
			w.t.Fatalf("rollback --continue: exit code %d\n%s\nbefore that: %s", code, out, said)
		}
	}
	if now := w.look(); now != before && now != after {
		w.t.Fatalf("neither side is there:\n%s\nbefore:\n%s\nafter:\n%s\n%s", now, before, after, said)
	}
	for range 8 {
		out, code := w.try("git-checkpoint", "create", "-m", "next")
		if code == 0 {
			break
		}
		m := lockNamed.FindStringSubmatch(out)
		if m == nil {
			w.t.Fatalf("create: exit code %d\n%s", code, out)
		}
		w.remove(m[1])
	}
	for _, lock := range w.locks() { // of other refs than these commands write
		w.remove(lock)
	}
	w.whole()
	w.run("git-checkpoint", "rollback", "latest", "-y")
}

func (w *world) remove(lock string) {
	w.t.Helper()
	if err := os.Remove(lock); err != nil {
		w.t.Fatal(err)
	}
}

// What a kill leaves in the directory of ours is swept once it is a day old; what is
// younger may be in use.
func TestSwept(t *testing.T) {
	w, _, _ := twoSides(t)
	old := time.Now().Add(-25 * time.Hour)
	for _, name := range []string{"tmp-stage-1", "tmp-index-2"} {
		path := filepath.Join(w.dir, ".git", "checkpoint", name)
		w.write(filepath.Join(".git", "checkpoint", name, "x"), "left\n")
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	w.write(filepath.Join(".git", "checkpoint", "tmp-index-3"), "in use\n")
	w.run("git-checkpoint", "create", "--always")
	entries, err := os.ReadDir(filepath.Join(w.dir, ".git", "checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	if names := fmt.Sprint(entries); strings.Contains(names, "tmp-stage-1") || strings.Contains(names, "tmp-index-2") || !strings.Contains(names, "tmp-index-3") {
		t.Errorf("left are %s", names)
	}
}
