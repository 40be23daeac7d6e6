package mapped

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// File returns the content at the time of the call, whatever its size, also if the file is
// replaced or deleted afterwards, and also of what cannot be mapped.
func TestFile(t *testing.T) {
	for _, size := range []int{0, 1, 4095, 4096, 4097, 1 << 20} {
		path := filepath.Join(t.TempDir(), "file")
		want := strings.Repeat("x", size)
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Path(path)
		if err != nil || string(got) != want {
			t.Errorf("%d bytes: %d, %v", size, len(got), err)
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("more"); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%d bytes: changed with the file", size)
		}
		if got, err := File(f); err != nil || string(got) != want+"more" {
			t.Errorf("%d bytes, of a file that is deleted: %d, %v", size, len(got), err)
		}
		f.Close()
	}
	if _, err := Path(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Error(err)
	}
	if _, err := Path(t.TempDir()); err == nil {
		t.Error("a directory has a content")
	}
}

// A small file is read whole, or as far as there is memory. Anything but a regular file is an
// error, and does not block.
func TestSmall(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, size := range []int{0, 1, 5000, 1 << 20} {
		want := strings.Repeat("y", size)
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Small(path); err != nil || string(got) != want {
			t.Errorf("%d bytes: %d, %v", size, len(got), err)
		}
		room := make([]byte, 10)
		got, err := Beginning(path, func(n int64) []byte { return room[:min(n, 10)] })
		if err != nil || string(got) != want[:min(size, 10)] {
			t.Errorf("the beginning of %d bytes: %q, %v", size, got, err)
		}
	}
	if _, err := Beginning(path, func(n int64) []byte { return make([]byte, n+1) }); err == nil {
		t.Error("more than there is was read")
	}
	if _, err := Small(dir); err == nil || os.IsNotExist(err) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Small(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("what is not there: %v", err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := makePipe(pipe); err != nil {
		t.Logf("no pipe here: %v", err)
	} else if _, err := Small(pipe); err == nil {
		t.Error("a pipe was read")
	}
}

// After Never the content is a copy, which a later change of the file does not touch.
func TestNever(t *testing.T) {
	Never()
	defer never.Store(false)
	path := filepath.Join(t.TempDir(), "file")
	want := strings.Repeat("x", 8192)
	if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Path(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("y"), 5000); err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("the file is mapped")
	}
}
