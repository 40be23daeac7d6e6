package mapped

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The content is that of the file as it was, whatever its size and whatever happens to its
// name, and also of what cannot be mapped.
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
