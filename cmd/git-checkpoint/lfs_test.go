//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/test/scripttest"
)

// lfsWorld is a repository that git-lfs works in, or what stands in for it, with two files
// in its care: one whose content is here, and a pointer to what is nowhere.
func lfsWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	standIn := filepath.Join(t.TempDir(), "stand-in")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", standIn, "git-checkpoint/internal/test/torture/stand-in").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, verb := range []string{"clean", "smudge", "process"} {
		w.run("git", "config", "filter.lfs."+verb, standIn+" lfs-"+verb)
	}
	w.run("git", "config", "filter.lfs.required", "true")
	w.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	w.write("here.bin", "content one\n")
	w.write("plain", "one\n")
	w.run("git", "add", ".")
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("4d", 32) + "\nsize 12345\n"
	w.write("absent.bin", pointer)
	w.run("git", "add", ".")
	w.run("git", "commit", "-qm", "one")
	return w
}

// Files of git-lfs come back with their content where that is here, as pointers where
// it never was, and what was a pointer is no edit.
func TestLFS(t *testing.T) {
	t.Parallel()
	w := lfsWorld(t)
	first := w.created()
	before := w.look()
	if blob := w.run("git", "show", "refs/checkpoints/main/"+first+":here.bin"); !strings.HasPrefix(blob, "version https://git-lfs") {
		t.Errorf("the blob is no pointer: %q", blob)
	}
	w.write("here.bin", "content two, longer\n")
	w.write("absent.bin", "it came back\n")
	w.write("new.bin", strings.Repeat("large\n", 200_000))
	w.run("rm", "plain")
	after := w.look()
	w.run("git-checkpoint", "rollback", first, "-y")
	if got := w.look(); got != before {
		t.Errorf("after the rollback:\n%s\nwant:\n%s", got, before)
	}
	w.run("git-checkpoint", "undo", "-y")
	if got := w.look(); got != after {
		t.Errorf("after the undo:\n%s\nwant:\n%s", got, after)
	}
	if out := w.run("git", "status", "--porcelain"); strings.Contains(out, ".gitattributes") {
		t.Errorf("status: %s", out)
	}
}

// Where the content was swept from git-lfs's own store it cannot come back: the rollback
// refuses, and what is in the worktree stays. Files that are not in its care come back.
func TestLFSContentGone(t *testing.T) {
	scripttest.Long(t)
	t.Parallel()
	w := lfsWorld(t)
	w.run("git", "rm", "-qf", "absent.bin") // else git-lfs would fail there, and all exact bytes be kept
	first := w.created()
	w.write("here.bin", "content two, longer\n")
	w.write("plain", "two\n")
	for _, store := range []string{"lfs/objects", "checkpoint/lfs"} {
		if err := os.RemoveAll(filepath.Join(w.dir, ".git", filepath.FromSlash(store))); err != nil {
			t.Fatal(err)
		}
	}
	was := w.look()
	out, code := w.try("git-checkpoint", "rollback", first, "-y")
	if code != 1 || !strings.Contains(out, `git did not write "here.bin"`) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if now := w.look(); now != was {
		t.Errorf("this is there:\n%s\nwant:\n%s", now, was)
	}
	w.run("git-checkpoint", "rollback", first, "-y", "--", "plain")
	if got := w.run("cat", "plain"); got != "one\n" {
		t.Errorf("plain is %q", got)
	}
}

// What was swept from git-lfs's own store comes back from the second names that checkpoints keep, also
// what was only staged, and what was in the worktree when it was replaced.
func TestLFSContentKept(t *testing.T) {
	t.Parallel()
	w := lfsWorld(t)
	w.run("git", "rm", "-qf", "absent.bin")
	first := w.created()
	before := w.look()
	w.write("here.bin", "content two, longer\n")
	w.run("git", "add", "here.bin")
	w.write("here.bin", "content three, in the worktree only\n")
	after := w.look()
	sweep := func() {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(w.dir, ".git", "lfs", "objects")); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	w.run("git-checkpoint", "rollback", first, "-y")
	if got := w.look(); got != before {
		t.Errorf("after the rollback:\n%s\nwant:\n%s", got, before)
	}
	sweep()
	w.run("git-checkpoint", "undo", "-y")
	if got := w.look(); got != after {
		t.Errorf("after the undo:\n%s\nwant:\n%s", got, after)
	}
	// A prune of the checkpoint takes the names of what only that one had.
	if kept := w.run("ls", ".git/checkpoint/lfs"); len(strings.Fields(kept)) < 2 {
		t.Errorf("kept: %s", kept)
	}
	w.run("git-checkpoint", "session", "delete", "main", "-y")
	if kept := w.run("ls", ".git/checkpoint/lfs"); kept != "" {
		t.Errorf("still kept: %s", kept)
	}
}
