package bench

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What takes long is made once, and made again if making it was interrupted.
func TestKeptBetweenRuns(t *testing.T) {
	cache := t.TempDir()
	made := 0
	b := func() *bench { return &bench{Options: Options{Cache: cache}, root: t.TempDir()} }
	fill := func(dir string) error {
		made++
		return os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)
	}
	cut := errors.New("cut off")
	if _, err := b().kept("thing", func(string) error { return cut }); !errors.Is(err, cut) {
		t.Fatal(err)
	}
	for range 2 {
		dir, err := b().kept("thing", fill)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "file")); err != nil {
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("made %d times", made)
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) != 1 {
		t.Errorf("%v lies there, %v", left, err)
	}
}

// A copy has the content, modes and times; git compares them with the index.
func TestCopyTree(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	if err := os.MkdirAll(filepath.Join(from, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("a", "b", "file")
	if err := os.WriteFile(filepath.Join(from, file), []byte("text"), 0o440); err != nil {
		t.Fatal(err)
	}
	then := time.Date(2026, 11, 20, 9, 43, 11, 123000000, time.UTC)
	if err := os.Chtimes(filepath.Join(from, file), then, then); err != nil {
		t.Fatal(err)
	}
	if err := copyTree(from, to); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(to, file))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(to, file)); err != nil || string(text) != "text" || !info.ModTime().Equal(then) || info.Mode().Perm() != 0o440 {
		t.Errorf("%q, %v, %v, %v", text, info.ModTime(), info.Mode(), err)
	}
}
