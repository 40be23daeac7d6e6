package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// worktrees are the directories of all worktrees but the first.
func (w *world) worktrees() (dirs []string) {
	w.t.Helper()
	for line := range strings.Lines(w.run("git", "worktree", "list", "--porcelain")) {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree "); ok {
			dirs = append(dirs, dir)
		}
	}
	return dirs[1:]
}

// A fork that is killed at any moment is there as a whole, or not at all, or is named by doctor, with
// the command that takes it away. The worktree that it was called from is as it was. The moments are drawn.
func TestKilledFork(t *testing.T) {
	for range rounds(6) {
		w, _, after := twoSides(t)
		dir := filepath.Join(filepath.Dir(w.dir), "attempt")
		delay := time.Duration(rand.IntN(90_000)) * time.Microsecond //nolint:gosec // no secret
		out, code := w.shoot(delay, syscall.SIGKILL, "git-checkpoint", "fork", "1", dir, "--name", "x")
		if now := w.look(); now != after {
			t.Fatalf("after %v this worktree is\n%s\nand was\n%s", delay, now, after)
		}
		found, _ := w.try("git-checkpoint", "doctor")
		named := strings.Contains(found, "incomplete")
		t.Logf("after %v: exit code %d, named: %v", delay, code, named)
		if code == 0 && named {
			t.Fatalf("a whole fork is called incomplete:\n%s", found)
		}
		if named {
			w.run("git-checkpoint", "fork", "--remove", "main-x", "-y") // as the hint says
		}
		_, err := os.Lstat(dir)
		if there := len(w.worktrees()) > 0 || err == nil; there && (code != 0 || named) {
			list := w.run("git-checkpoint", "fork", "--list", "--json")
			if !strings.Contains(list, `"unfinished":false`) || !strings.Contains(list, `"name":"x"`) {
				t.Fatalf("after %v something is left that is no fork: %v\n%s%s%s", delay, w.worktrees(), list, found, out)
			}
		} else if !there {
			w.run("git-checkpoint", "fork", "1", dir, "--name", "x")
		}
		w.whole()
	}
}

// bisect takes at most ⌈log2 n⌉ + 1 runs, and one that is killed leaves nothing that the next one, or
// doctor, does not clear away. The worktree that it was called from is as it was.
func TestKilledBisect(t *testing.T) {
	w := newWorld(t)
	w.run("git", "commit", "-q", "--allow-empty", "-m", "begin")
	steps, broken, most := 100, 38, 8
	if testing.Short() {
		steps, broken, most = 25, 11, 6
	}
	for n := 1; n <= steps; n++ {
		w.write("n", fmt.Sprintln(n))
		w.run("git-checkpoint", "save", "-q", fmt.Sprint("step ", n))
	}
	before := w.look()
	runs := filepath.Join(t.TempDir(), "runs")
	bisect := []string{"git-checkpoint", "bisect", "--good", "1", "--bad", fmt.Sprint(steps), "--", "sh", "-c", fmt.Sprintf("echo >>%s; test $(cat n) -lt %d", runs, broken)}
	for range rounds(3) {
		w.shoot(time.Duration(rand.IntN(250_000))*time.Microsecond, syscall.SIGKILL, bisect...) //nolint:gosec // no secret
		if err := os.RemoveAll(runs); err != nil {
			t.Fatal(err)
		}
		if out := w.run(bisect...); !strings.Contains(out, fmt.Sprintf("%d \"step %[1]d\" broke it\n", broken)) {
			t.Fatalf("bisect does not find step %d:\n%s", broken, out)
		}
		ran, err := os.ReadFile(runs)
		if err != nil {
			t.Fatal(err)
		}
		if len(ran) > most {
			t.Errorf("%d runs over %d steps", len(ran), steps)
		}
		w.try("git-checkpoint", "doctor", "--fix")
		if left := w.worktrees(); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
		if now := w.look(); now != before {
			t.Fatalf("this worktree is\n%s\nand was\n%s", now, before)
		}
	}
	w.whole()
}
