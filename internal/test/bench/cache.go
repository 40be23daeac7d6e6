package bench

// A session of ten thousand checkpoints or a history of two million objects takes minutes
// to make. Such things are made once and copied for each row that needs them.

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// layout is part of the names of what is kept. A new value makes everything again.
const layout = "1"

// kept returns a directory with something that takes long to make. It uses what an earlier
// run left, or calls fill. A directory gets its final name when it is complete, so an
// interrupted run leaves none.
func (b *bench) kept(name string, fill func(dir string) error) (string, error) {
	home := b.Cache
	if home == "" {
		home = filepath.Join(b.root, "kept")
	}
	dir := filepath.Join(home, name+"-v"+layout)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(home, 0o777); err != nil {
		return "", fmt.Errorf("make the directory of what is kept: %w", err)
	}
	part, err := os.MkdirTemp(home, "part-")
	if err != nil {
		return "", fmt.Errorf("make a directory: %w", err)
	}
	defer os.RemoveAll(part) //nolint:errcheck // it has its name by then, or is worth nothing
	if err := fill(part); err != nil {
		return "", err
	}
	return dir, os.Rename(part, dir)
}

// copyTree copies files and directories with their modes and times.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, inside)
		info, err := e.Info()
		if err != nil {
			return err
		}
		// The copy has to be writable, whatever the original is.
		if e.IsDir() {
			return os.MkdirAll(target, info.Mode().Perm()|0o700)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, content, info.Mode().Perm()); err != nil {
			return err
		}
		return os.Chtimes(target, info.ModTime(), info.ModTime())
	})
}
