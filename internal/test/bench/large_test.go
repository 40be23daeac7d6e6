package bench

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// The history has as many objects as it says, and none of them twice.
func TestMakeHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes two large commits, for measuring alone")
	}
	b := &bench{Options: Options{Effort: Effort{Packed: 2 * perCommit}, Log: io.Discard}, root: t.TempDir()}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(b.root, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := b.makeHistory(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	objects, err := b.start(t.Context(), dir, nil, "git", "cat-file", "--batch-all-objects", "--batch-check=x")
	if err != nil {
		t.Fatal(err)
	}
	if got := len(objects)/2 + 1; got != 2*perCommit {
		t.Errorf("%d objects, not %d", got, 2*perCommit)
	}
	files, err := b.start(t.Context(), dir, nil, "git", "ls-tree", "-r", "--name-only", "history")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("d%02d/f%02d", historyDirs-1, historyFiles-1); filepath.Base(files) != filepath.Base(want) {
		t.Errorf("the last file is not %q", want)
	}
}
