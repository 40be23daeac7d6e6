package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A loop over paths sees what lstat sees: nothing behind a link, nothing where no directory is, and
// a directory that is made in the middle of the loop.
func TestHeld(t *testing.T) {
	top := t.TempDir()
	for _, p := range []string{"a/1", "a/2", "a/3", "a/in/1", "a/in/2", "file"} {
		file := filepath.Join(top, p)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(p), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "a", "a/up": "..", "out": t.TempDir()} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Skip("there are no symbolic links here")
		}
	}
	w, err := Open(top, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	h := w.Hold()
	defer h.Close()
	for _, p := range []string{
		"a/1", "a/2", "a/3", "a/4", "a/in", "a/in/1", "a/in/2", "a/in/3", "a/up", "a/up/file", "a/up/a", "a/up/gone",
		"file", "file/1", "file/2", "gone/1", "gone/2", "gone/3", "link", "link/1", "link/2", "link/3", "link/in/1", "link/in/2", "out/1", "out/2",
	} {
		want, wantErr := w.Lstat(p)
		got, err := h.Lstat(p)
		if (want == nil) != (got == nil) || (wantErr == nil) != (err == nil) || want != nil && !Same(got, want) {
			t.Errorf("%s: %v, %v; lstat says %v, %v", p, got, err, want, wantErr)
		}
	}
}

// A file is never put behind a link, also if the directory was one a moment ago.
func TestHeldPlacesNothingBehindALink(t *testing.T) {
	top, stage := t.TempDir(), t.TempDir()
	w, err := Open(top, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if errors.Is(w.RenameNew(filepath.Join(stage, "none"), "none"), ErrNoSwap) {
		t.Skip("this system cannot rename without replacing")
	}
	w.Near = w.Hold()
	defer w.Near.Close()
	put := func(name, p string) error {
		if err := os.WriteFile(filepath.Join(stage, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		return w.RenameNew(filepath.Join(stage, name), p)
	}
	if err := put("1", "d/1"); err == nil {
		t.Fatal("placed in a directory that is not there")
	}
	if err := os.Mkdir(filepath.Join(top, "d"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"1", "2", "3"} {
		if err := put(name, "d/"+name); err != nil {
			t.Fatal(err)
		}
	}
	if err := put("4", "d/3"); err == nil {
		t.Fatal("replaced a file")
	}
	if err := os.Symlink("d", filepath.Join(top, "link")); err != nil {
		t.Skip("there are no symbolic links here")
	}
	for _, name := range []string{"5", "6", "7"} {
		if err := put(name, "link/"+name); err == nil {
			t.Errorf("placed %s behind a link", name)
		}
	}
}
