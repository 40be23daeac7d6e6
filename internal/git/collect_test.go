package git

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// letGo makes a commit that nothing holds, called ours, with a file that it has alone, in a
// pack or loose.
func (f *fixture) letGo(packed string) (commit, blob string) {
	f.t.Helper()
	f.git("commit", "-q", "--allow-empty", "-m", "first")
	f.write("alone", "in ours alone\n")
	f.git("add", "alone")
	blob = f.git("rev-parse", ":alone")
	commit = f.git("commit-tree", "-m", "ours", f.git("write-tree"))
	f.git("rm", "-q", "--cached", "alone")
	if packed == "packed" {
		f.git("repack", "-q", "-a", "-d") // -k needs a pack that is there
		f.git("repack", "-q", "-a", "-d", "-k")
		f.git("prune-packed", "-q")
		packs, err := filepath.Glob(filepath.Join(f.dir, ".git", "objects", "pack", "*.pack"))
		if err != nil || len(packs) != 1 {
			f.t.Fatal(packs, err)
		}
		if err := os.Chtimes(packs[0], time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			f.t.Fatal(err)
		}
	}
	return commit, blob
}

func isOurs(c Commit) bool { return c.Message == "ours\n" }

func (f *fixture) has(oid string) bool {
	_, err := f.try("", "cat-file", "-e", oid)
	return err == nil
}

// What somebody writes while we collect is not ours to take: neither what nothing names yet,
// nor what was ours alone and is needed now.
func TestCollectBesideWriters(t *testing.T) {
	for _, packed := range []string{"loose", "packed"} {
		t.Run(packed, func(t *testing.T) {
			f := newFixture(t)
			commit, blob := f.letGo(packed)
			var made string
			freed, err := f.open().Collect(t.Context(), func(c Commit) bool {
				if made == "" { // all that nothing holds is listed already
					f.write("alone", "in ours alone\n")
					if again := f.git("hash-object", "-w", "alone"); again != blob {
						t.Fatal(again)
					}
					f.write("new", "x")
					f.git("add", "new")
					made = f.git("commit-tree", "-m", "made meanwhile", f.git("write-tree"))
				}
				return isOurs(c)
			})
			if err != nil || freed == 0 && packed == "loose" {
				t.Fatal(freed, err)
			}
			if !f.has(made) || !f.has(made+":new") {
				t.Error("what was made meanwhile is gone")
			}
			if !f.has(blob) {
				t.Error("what was needed again is gone")
			}
			f.git("update-ref", "refs/heads/meanwhile", made)
			f.git("fsck", "--strict")
			if packed == "packed" { // git makes young the pack as a whole
				if _, err := f.open().Collect(t.Context(), isOurs); err != nil {
					t.Fatal(err)
				}
			}
			if f.has(commit) {
				t.Error("what was let go is still there")
			}
		})
	}
}

// What others left dangling stays with all that it needs, and so does what an index names.
func TestCollectSpares(t *testing.T) {
	for _, packed := range []string{"loose", "packed"} {
		t.Run(packed, func(t *testing.T) {
			f := newFixture(t)
			f.git("commit", "-q", "--allow-empty", "-m", "zero")
			linked := filepath.Join(t.TempDir(), "linked")
			f.git("worktree", "add", "-q", linked)
			f.write("dir/staged", "staged there, and in ours\n")
			f.write("stashed", "in a dropped stash, and in ours\n")
			f.write("tagged", "in a deleted tag, and in ours\n")
			f.git("add", ".")
			tree := f.git("write-tree")
			staged := f.git("rev-parse", tree+":dir")
			f.git("-C", linked, "read-tree", staged) // the index there names the file, and remembers the tree
			ours := f.git("commit-tree", "-m", "ours", "-p", f.git("commit-tree", "-m", "ours", tree), tree)
			stash := f.git("commit-tree", "-m", "theirs", f.gitIn("100644 blob "+f.git("rev-parse", ":stashed")+"\tstashed\n", "mktree"))
			f.git("tag", "-m", "theirs", "gone", f.git("rev-parse", ":tagged"))
			tag := f.git("rev-parse", "gone")
			f.git("tag", "-d", "gone")
			f.git("rm", "-q", "--cached", "-r", ".")
			commit, _ := f.letGo(packed)
			if _, err := f.open().Collect(t.Context(), isOurs); err != nil {
				t.Fatal(err)
			}
			if f.has(ours) || f.has(commit) || f.has(tree) {
				t.Error("what was let go is still there")
			}
			for _, kept := range []string{stash + ":stashed", tag + "^{}", staged, staged + ":staged"} {
				if !f.has(kept) {
					t.Errorf("%s is gone", kept)
				}
			}
			f.git("-C", linked, "fsck", "--strict")
			f.git("-C", linked, "commit", "-q", "-m", "staged there")
			f.git("fsck", "--strict")
		})
	}
}

// Nothing is deleted while somebody writes an index.
func TestCollectWaitsForIndexes(t *testing.T) {
	f := newFixture(t)
	commit, _ := f.letGo("loose")
	lock := filepath.Join(f.dir, ".git", "index.lock")
	if err := os.WriteFile(lock, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer stop()
	if _, err := f.open().Collect(ctx, isOurs); err == nil || !f.has(commit) {
		t.Errorf("%v; ours is there: %t", err, f.has(commit))
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if _, err := f.open().Collect(t.Context(), isOurs); err != nil || f.has(commit) {
		t.Errorf("%v; ours is there: %t", err, f.has(commit))
	}
}
