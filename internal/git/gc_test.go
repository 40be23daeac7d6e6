//go:build linux

package git

import (
	"os"
	"path/filepath"
	"testing"
)

// While we collect, git starts no gc, and whoever writes refs waits for the end. The mark of
// a process that is no more counts for nothing.
func TestHoldGC(t *testing.T) {
	f := newFixture(t)
	f.write("file", "x")
	f.git("add", ".")
	f.git("commit", "-qm", "one")
	r := f.open()
	mark := filepath.Join(f.dir, ".git", "gc.pid")
	if err := os.WriteFile(mark, []byte("999999999 elsewhere"), 0o666); err != nil {
		t.Fatal(err)
	}
	if r.GCDropsAll() {
		t.Error("a process that is no more is waited for")
	}
	release, err := r.holdGC(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !f.open().GCDropsAll() {
		t.Error("nobody sees it")
	}
	if _, err := f.try("", "gc", "-q"); err == nil {
		t.Error("git began a gc beside it")
	}
	release()
	if _, err := os.Lstat(mark); err == nil || r.GCDropsAll() {
		t.Error("the mark stays")
	}
	if left, err := filepath.Glob(filepath.Join(f.dir, ".git", "checkpoint", "tmp-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	f.git("gc", "-q")
	if _, err := r.Collect(t.Context(), func(Commit) bool { return false }); err != nil {
		t.Error(err)
	}
}
