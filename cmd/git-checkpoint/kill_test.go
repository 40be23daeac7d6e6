package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/scripttest"
)

// world is a repository that a test kills this program in.
type world struct {
	t   *testing.T
	dir string
	env []string
	as  []string // what a command is started with
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := t.TempDir()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "repo"), env: append(os.Environ(),
		"HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_TEMPLATE_DIR=", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_CHECKPOINT_TAGPRIVATE=true")} // so that what happens to tags is tested, too
	if err := os.Mkdir(w.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	w.run("git", "init", "-q", "-b", "main")
	return w
}

// try runs a command and gives its output and exit code.
func (w *world) try(args ...string) (string, int) {
	args = append(slices.Clone(w.as), args...)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (w *world) run(args ...string) string {
	w.t.Helper()
	out, code := w.try(args...)
	if code != 0 {
		w.t.Fatalf("%v: exit code %d\n%s", args, code, out)
	}
	return out
}

func (w *world) write(path, content string) {
	w.t.Helper()
	full := filepath.Join(w.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o666); err != nil {
		w.t.Fatal(err)
	}
}

// look describes every file of the worktree, HEAD, and what is staged.
func (w *world) look() string {
	w.t.Helper()
	var lines []string
	err := filepath.Walk(w.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if info.Name() == ".git" && info.IsDir() {
			return filepath.SkipDir
		}
		if info.IsDir() || info.Name() == ".git" {
			return nil
		}
		content, _ := os.Readlink(path)
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(data)
		}
		lines = append(lines, fmt.Sprintf("%s %s %q", path[len(w.dir):], info.Mode(), content))
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n") + "\n" + w.run("git", "ls-files", "-s", "-v", "-t") + w.run("git", "rev-parse", "HEAD")
}

// twoSides makes checkpoint 1 and goes on from it in every way that a rollback
// has to take back.
func twoSides(t *testing.T) (w *world, before, after string) {
	w = newWorld(t)
	before, after = w.fill()
	return w, before, after
}

// fill is twoSides in a repository that is there.
func (w *world) fill() (before, after string) {
	w.t.Helper()
	for _, p := range []string{"same", "edited", "deleted/deep/file", "swap", "staged", "mode"} {
		w.write(p, p+"\n")
	}
	w.run("git", "add", ".")
	w.run("git", "commit", "-qm", "one")
	w.write("staged", "staged once\n")
	w.run("git", "add", "staged")
	w.write("staged", "and on\n")
	w.write("untracked", "u\n")
	w.run("git-checkpoint", "create", "-m", "one")
	before = w.look()
	w.write("edited", "other\n")
	w.write("new/file", "new\n")
	w.run("sh", "-c", "rm -r deleted swap untracked && mkdir swap && echo x > swap/x && chmod +x mode && chmod 600 edited && ln -s same link")
	w.run("git", "add", "-A", "new", "swap")
	w.run("git", "commit", "-qm", "two")
	w.write("staged", "third\n")
	return before, w.look()
}

// A rollback that is killed at any step can be finished or taken back, and either
// way nothing is lost.
func TestKilledRollback(t *testing.T) {
	for i, step := range checkpoint.Failpoints[3:19] {
		for k, end := range []string{"--continue", "--abort"} {
			t.Run(step+end, func(t *testing.T) {
				scripttest.OneIn(t, 9, 2*i+k)
				t.Parallel()
				w, before, after := twoSides(t)
				w.env = append(w.env, "GIT_CHECKPOINT_FAILPOINT="+step)
				out, code := w.try("git-checkpoint", "rollback", "1", "-y", "--branch")
				w.env = w.env[:len(w.env)-1]
				if code != -1 {
					t.Fatalf("not killed at %q: exit code %d\n%s", step, code, out)
				}
				w.settle(end, before, after)
				w.run("git", "fsck", "--strict")
			})
		}
	}
}

// settle ends what a kill left, by itself or with a flag, and then goes both ways.
func (w *world) settle(end, before, after string) {
	w.t.Helper()
	if out, code := w.try("git-checkpoint", "rollback", end); code != 0 {
		if now := w.look(); now != before && now != after {
			w.t.Fatalf("%s: exit code %d\n%s\nneither side is there:\n%s", end, code, out, now)
		}
	}
	now := w.look()
	if now != before && now != after {
		w.t.Fatalf("after %s neither side is there:\n%s\nbefore:\n%s\nafter:\n%s", end, now, before, after)
	}
	w.run("git-checkpoint", "rollback", "1", "-y", "--branch")
	if got := w.look(); got != before {
		w.t.Fatalf("rollback after %s:\n%s\nwant:\n%s", end, got, before)
	}
	if now == before { // there was nothing to do, so the undo takes back what was finished
		now = after
	}
	w.run("git-checkpoint", "undo", "-y")
	if got := w.look(); got != now {
		w.t.Fatalf("undo after %s:\n%s\nwant:\n%s", end, got, now)
	}
}

// A create that is killed leaves all of a checkpoint or nothing of it.
func TestKilledCreate(t *testing.T) {
	for _, step := range checkpoint.Failpoints[:3] {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w, _, after := twoSides(t)
			refs := w.run("git", "for-each-ref")
			w.env = append(w.env, "GIT_CHECKPOINT_FAILPOINT="+step)
			if out, code := w.try("git-checkpoint", "create", "-m", "two"); code != -1 {
				t.Fatalf("not killed at %q: exit code %d\n%s", step, code, out)
			}
			w.env = w.env[:len(w.env)-1]
			if w.look() != after {
				t.Fatal("the worktree is not as it was")
			}
			if step != "recorded" && w.run("git", "for-each-ref") != refs {
				t.Fatal("refs are not as they were")
			}
			w.run("git-checkpoint", "create", "-m", "next")
			w.run("git", "fsck", "--strict")
		})
	}
}
