package main

import (
	"testing"

	"git-checkpoint/internal/test/scripttest"
)

// An undo of several levels, which brought back different parts, that is killed at any step is
// finished or taken back as a whole, and all that is between can still be walked to.
func TestKilledWalk(t *testing.T) {
	for i, step := range []string{"staged", "safety", "begun", "place", "index", "head", "event", "finished"} {
		for j, end := range []string{"--continue", "--abort"} {
			t.Run(step+end, func(t *testing.T) {
				scripttest.OneIn(t, 7, 2*i+j)
				t.Parallel()
				w := newWorld(t)
				first := w.between("one", func() { w.run("git-checkpoint", "create", "--session", "s") })
				w.between("two", func() { w.run("git-checkpoint", "create", "--session", "s") })
				back := w.between("by hand", func() { w.run("git-checkpoint", "rollback", "s:2", "-y") })
				middle := w.between("by hand again", func() { w.run("git-checkpoint", "rollback", "s:1", "-y", "--worktree-only") })
				front := w.look()
				walk, from, to := []string{"git-checkpoint", "undo", "2", "-y"}, front, back
				if (i+j)%2 == 0 {
					w.run(walk...)
					walk, from, to = []string{"git-checkpoint", "redo", "2", "-y"}, back, front
				}
				w.env = append(w.env, "GIT_CHECKPOINT_FAILPOINT="+step)
				if out, code := w.try(walk...); code != -1 {
					t.Fatalf("not killed at %q: exit code %d\n%s", step, code, out)
				}
				w.env = w.env[:len(w.env)-1]
				out, code := w.try("git-checkpoint", "rollback", end)
				switch now := w.look(); {
				case now == to:
				case now == from:
					w.run(walk...)
				default:
					t.Fatalf("%s: exit code %d\n%s\nneither side is there:\n%s", end, code, out, now)
				}
				w.is(to)
				other := map[string]string{"undo": "redo", "redo": "undo"}[walk[1]]
				w.run("git-checkpoint", other, "-y")
				w.is(middle)
				w.run("git-checkpoint", other, "-y")
				w.is(from)
				w.run(walk...)
				w.is(to)
				w.run("git-checkpoint", "rollback", "s:1", "-y")
				w.is(first)
				w.run("git-checkpoint", "validate", "-q")
			})
		}
	}
}

// between edits f by hand, does something, and gives what was there before it.
func (w *world) between(content string, do func()) string {
	w.t.Helper()
	if w.write("f", content+"\n"); content == "one" {
		w.run("git", "add", "f")
		w.run("git", "commit", "-qm", "one")
	}
	was := w.look()
	do()
	return was
}

func (w *world) is(want string) {
	w.t.Helper()
	if got := w.look(); got != want {
		w.t.Fatalf("there is\n%s\nand not\n%s", got, want)
	}
}
