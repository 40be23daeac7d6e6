package git

import (
	"os"
	"path/filepath"
	"testing"
)

// Packing continues when the worktree that started it is removed.
func TestPackWithoutWorktree(t *testing.T) {
	f := newFixture(t)
	f.git("commit", "-q", "--allow-empty", "-m", "first")
	linked := filepath.Join(t.TempDir(), "linked")
	f.git("worktree", "add", "-q", linked)
	home := f.dir
	f.dir = linked
	r := f.open()
	f.dir = home
	f.git("worktree", "remove", "--force", linked)
	f.must(r.Pack(ctx(t)))
	if got := f.git("count-objects"); got != "0 objects, 0 kilobytes" {
		t.Error(got)
	}
	if _, err := os.Lstat(filepath.Join(f.dir, ".git", "packed-refs")); err != nil {
		t.Error(err)
	}
}
