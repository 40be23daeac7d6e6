package git

import (
	"os"
	"path/filepath"
	"testing"
)

// Packing continues when the worktree that started it is removed.
func TestPackWithoutWorktree(t *testing.T) {
	f := newFixture(t)
	f.Git("commit", "-q", "--allow-empty", "-m", "first")
	linked := filepath.Join(t.TempDir(), "linked")
	f.Git("worktree", "add", "-q", linked)
	home := f.Dir
	f.Dir = linked
	r := f.open()
	f.Dir = home
	f.Git("worktree", "remove", "--force", linked)
	f.must(r.Maintenance.Pack(ctx(t)))
	if got := f.Git("count-objects"); got != "0 objects, 0 kilobytes" {
		t.Error(got)
	}
	if _, err := os.Lstat(filepath.Join(f.Dir, ".git", "packed-refs")); err != nil {
		t.Error(err)
	}
}
