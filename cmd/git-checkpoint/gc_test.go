package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/internal/test/scripttest"
)

// letGo makes a checkpoint with a file that no other one has, deletes it, and leaves its
// objects in packs, loose, or both, all of them older than git's grace.
func (w *world) letGo(copies string) (tree string) {
	w.t.Helper()
	w.write("alone", "in one checkpoint alone\n")
	w.run("git-checkpoint", "create", "-m", "one")
	tree = w.run("sh", "-c", "git ls-tree $(git for-each-ref --format='%(objectname)' 'refs/checkpoints/*/cp-*')")
	w.run("rm", "alone")
	w.run("git-checkpoint", "create", "-m", "two")
	w.run("git-checkpoint", "delete", "1", "-y")
	if copies != "loose" {
		w.run("sh", "-c", "git fsck --unreachable --no-dangling | cut -d' ' -f3 | git pack-objects -q .git/objects/pack/pack")
	}
	if copies == "packed" {
		w.run("git", "prune-packed")
	}
	w.age()
	return tree
}

// age sets the times of all objects back by years.
func (w *world) age() {
	w.t.Helper()
	long := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	err := filepath.WalkDir(filepath.Join(w.dir, ".git", "objects"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, long, long)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// A program that makes a commit step by step finds what it wrote, whenever `prune --gc` runs
// between two steps: also where git found an old object in a pack and freshened it there, and
// an old loose copy of it lay beside.
func TestPruneBetweenSteps(t *testing.T) {
	for i, copies := range []string{"loose", "packed", "both"} {
		for pruneAfter := 1; pruneAfter <= 3; pruneAfter++ {
			t.Run(fmt.Sprint(copies, pruneAfter), func(t *testing.T) {
				scripttest.OneIn(t, 4, 3*i+pruneAfter-1)
				t.Parallel()
				w := newWorld(t)
				tree := w.letGo(copies)
				w.write("in", "in one checkpoint alone\n")
				w.write("tree", tree)
				var out string
				for step, script := range []string{"git hash-object -w in", "git mktree <tree", "git commit-tree -m made $(git mktree <tree)"} {
					out = w.run("sh", "-c", script)
					if step+1 == pruneAfter {
						w.run("git-checkpoint", "prune", "-y", "--keep", "1", "--gc")
					}
				}
				w.run("git", "update-ref", "refs/heads/made", strings.TrimSpace(out))
				w.run("git", "rev-list", "--objects", "refs/heads/made")
				w.run("git", "fsck", "--strict", "--no-dangling")
			})
		}
	}
}

// Beside `prune --gc` no commit loses a tree, neither one of plumbing nor one of a linked
// worktree.
func TestPruneBesideWriters(t *testing.T) {
	w := newWorld(t)
	w.run("git", "commit", "-q", "--allow-empty", "-m", "first")
	w.run("git", "worktree", "add", "-q", "../linked")
	w.letGo("both")
	done := make(chan struct{})
	var group sync.WaitGroup
	for _, script := range []string{
		`for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
			b=$(echo plumbing $((i % 4)) | git hash-object -w --stdin) &&
			t=$(printf '100644 blob %s\tf\n' $b | git mktree) &&
			git update-ref refs/heads/plumbing-$i $(git commit-tree -m $i $t) || exit 1
		done`,
		`cd ../linked; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
			mkdir -p d; echo linked $((i % 4)) >d/f; git add d && git commit -q --allow-empty -m $i || exit 1
		done`,
	} {
		group.Go(func() {
			out, code := w.try("sh", "-c", script)
			for range 5 { // git gc removes an empty directory of objects just when git wants to write there
				if !strings.Contains(out, "unable to create temporary file: No such file") {
					break
				}
				out, code = w.try("sh", "-c", script)
			}
			if code != 0 {
				t.Errorf("exit code %d: %s", code, out)
			}
		})
	}
	go func() { group.Wait(); close(done) }()
	for going := true; going; {
		select {
		case <-done:
			going = false
		default:
			w.run("git-checkpoint", "prune", "-y", "--keep", "1", "--gc")
		}
	}
	w.run("git", "rev-list", "--objects", "--all")
	w.run("git", "fsck", "--strict", "--no-dangling")
}
