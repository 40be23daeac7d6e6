package interop

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// target is the directory that a layout is written to. All access goes through os.Root, so no
// symbolic link in it can lead a write to another directory.
type target struct {
	root *os.Root
	dir  string
	mode fs.FileMode // of new files
}

// openTarget opens a directory and creates it if it is missing.
func openTarget(dir string) (*target, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("make %q: %w", dir, plain(err))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", dir, plain(err))
	}
	return &target{root: root, dir: dir, mode: 0o666}, nil
}

// isDirectory reports whether a directory exists at p.
func (t *target) isDirectory(p string) bool {
	info, err := t.root.Stat(p)
	return err == nil && info.IsDir()
}

// existing reports whether there is anything at p that a write would replace. have is what leading
// gives for a link, the content of a regular file that is not too large, and nil for anything else.
// It returns an error for what can never be replaced: a directory at p, or a parent of p that is
// not a directory.
func (t *target) existing(p string) (there bool, have []byte, err error) {
	info, err := t.root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil, t.way(p)
	case err != nil:
		return true, nil, fmt.Errorf("%s: %w", p, plain(err))
	case info.IsDir():
		return true, nil, fmt.Errorf("%s: a directory is in the way", p)
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := t.root.Readlink(p)
		return true, leading(to), err
	case !info.Mode().IsRegular() || info.Size() > maxDocument:
		return true, nil, nil
	}
	if have, err = t.root.ReadFile(p); err != nil {
		return true, nil, fmt.Errorf("%s: %w", p, plain(err))
	}
	return true, have, nil
}

// leading stands for the content of a link, so that links are compared and a mirror remembers where
// they lead as it remembers what files say.
func leading(to string) []byte { return []byte("a link to " + to) }

// way returns an error if something other than a directory is on the path to p. Missing directories
// are fine; put creates them.
func (t *target) way(p string) error {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		info, err := t.root.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			// Stat follows links and Lstat does not: the link exists but not its target, so
			// MkdirAll would fail with a confusing error.
			if _, err := t.root.Lstat(dir); err == nil {
				return fmt.Errorf("%s: a broken symbolic link is in the way", dir)
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", dir, plain(err))
		}
		if !info.IsDir() {
			return fmt.Errorf("%s: it is not a directory", dir)
		}
		return nil
	}
	return nil
}

// put writes a file or link under a temporary name and renames it, so that a concurrent reader sees
// either the old content or the new. It replaces a link and does not write through it. The name
// starts with a dot, so that no layout reads it as a document.
func (t *target) put(f file) error {
	p := f.path
	if err := t.root.MkdirAll(path.Dir(p), 0o777); err != nil {
		return fmt.Errorf("%s: %w", path.Dir(p), plain(err))
	}
	temp := path.Join(path.Dir(p), ".git-checkpoint-"+strings.ToLower(rand.Text()[:12])+".tmp")
	var err error
	if f.to != "" {
		err = t.root.Symlink(f.to, temp)
	} else {
		err = t.root.WriteFile(temp, f.content, t.mode)
	}
	if err == nil {
		err = t.root.Rename(temp, p)
	}
	if err != nil {
		t.root.Remove(temp) //nolint:errcheck // the error before is what counts
		return fmt.Errorf("%s: %w", p, plain(err))
	}
	return nil
}

// database returns the path of a database in the file system and creates its directory. SQLite
// opens files by path and does not use os.Root, so this refuses any symbolic link on the way and at
// the file itself.
func (t *target) database(p string) (string, error) {
	if err := t.way(p); err != nil {
		return "", err
	}
	if err := t.root.MkdirAll(path.Dir(p), 0o777); err != nil {
		return "", fmt.Errorf("%s: %w", path.Dir(p), plain(err))
	}
	// The database need not exist, but if it does it has to be a regular file.
	in := &tree{root: t.root}
	if _, err := in.real(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", p, err)
	}
	return filepath.Join(t.dir, filepath.FromSlash(p)), nil
}
