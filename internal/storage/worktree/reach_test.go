//go:build linux

package worktree

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// Nothing is found behind a symbolic link, with or without openat2; a link itself is seen as a
// link; and a path that is too long for the system is reached all the same.
func TestReach(t *testing.T) {
	top, out := t.TempDir(), t.TempDir()
	w, err := Open(top, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	long := strings.Repeat(strings.Repeat("x", 199)+"/", 21)
	if err := w.Root.MkdirAll(long+"d", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"d/f", long + "f"} {
		if err := w.Root.MkdirAll(path.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := w.Root.WriteFile(p, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"inside": "d", "outside": out, "up": "..", "f": "d/f", "nowhere": "gone"} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "f"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for p, there := range map[string]bool{
		"d": true, "d/f": true, "f": true, "nowhere": true, "inside": true, long + "f": true,
		"inside/f": false, "outside/f": false, "up/d": false, "../": false, "d/f/x": false, "gone": false, "f/x": false, long + "gone": false,
	} {
		info, err := w.Lstat(p)
		if err != nil && p != "../" || (info != nil) != there {
			t.Errorf("%.40q: %v %v", p, info, err)
		}
		if link := info != nil && info.Mode()&os.ModeSymlink != 0; link != (p == "f" || p == "nowhere" || p == "inside") {
			t.Errorf("%.40q is a link: %v", p, link)
		}
		dir, err := w.OpenDir(p)
		if err == nil {
			dir.Close() //nolint:errcheck // it was only opened
		}
		if open := err == nil; open != (p == "d" || p == "../" && false) {
			t.Errorf("the directory %.40q: %v", p, err)
		}
	}
	if err := w.RemoveDir("inside"); !errors.Is(err, ErrNoDirectory) {
		t.Errorf("a link was taken for a directory: %v", err)
	}
	if err := w.RemoveDir(long + "d"); err != nil {
		t.Error(err)
	}
}
