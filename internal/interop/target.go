package interop

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// target is a directory that a layout is written to. Nothing outside of it can be reached,
// whatever links stand in it.
type target struct {
	root *os.Root
	dir  string
}

// openTarget makes the directory when it is missing.
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
	return &target{root: root, dir: dir}, nil
}

func (t *target) isDirectory(p string) bool {
	info, err := t.root.Stat(p)
	return err == nil && info.IsDir()
}

// standing is what is at a path now.
type standing int

const (
	nothing standing = iota
	same
	other // something else, which would be replaced
)

// look compares a file with what is there. What cannot be replaced is an error: a
// directory, or a way that leads out.
func (t *target) look(p string, content []byte) (standing, []byte, error) {
	info, err := t.root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nothing, nil, t.way(p)
	case err != nil:
		return other, nil, fmt.Errorf("%s: %w", p, plain(err))
	case info.IsDir():
		return other, nil, fmt.Errorf("%s: a directory is in the way", p)
	case info.Mode()&fs.ModeSymlink != 0 || !info.Mode().IsRegular():
		return other, nil, nil
	case info.Size() > maxDocument:
		return other, nil, nil
	}
	have, err := t.root.ReadFile(p)
	if err != nil {
		return other, nil, fmt.Errorf("%s: %w", p, plain(err))
	}
	if bytes.Equal(have, content) {
		return same, have, nil
	}
	return other, have, nil
}

// way refuses a path on which something else than a directory stands.
func (t *target) way(p string) error {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		info, err := t.root.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := t.root.Lstat(dir); err == nil {
				return fmt.Errorf("%s: a symbolic link leads nowhere", dir)
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", dir, plain(err))
		}
		if !info.IsDir() {
			return fmt.Errorf("%s: it is no directory", dir)
		}
		return nil
	}
	return nil
}

// put writes a file beside its place and renames it there, so that a reader finds the old
// one or the new one.
func (t *target) put(p string, content []byte) error {
	if err := t.root.MkdirAll(path.Dir(p), 0o777); err != nil {
		return fmt.Errorf("%s: %w", path.Dir(p), plain(err))
	}
	temp := temporary(p)
	if err := t.root.WriteFile(temp, content, 0o666); err != nil {
		t.root.Remove(temp) //nolint:errcheck // the error before is what counts
		return fmt.Errorf("%s: %w", p, plain(err))
	}
	return t.move(temp, p)
}

// link makes a symbolic link to a name in its own directory.
func (t *target) link(p, to string) error {
	if err := t.root.MkdirAll(path.Dir(p), 0o777); err != nil {
		return fmt.Errorf("%s: %w", path.Dir(p), plain(err))
	}
	temp := temporary(p)
	if err := t.root.Symlink(to, temp); err != nil {
		return fmt.Errorf("%s: %w", p, plain(err))
	}
	return t.move(temp, p)
}

func (t *target) move(temp, p string) error {
	if err := t.root.Rename(temp, p); err != nil {
		t.root.Remove(temp) //nolint:errcheck // the error before is what counts
		return fmt.Errorf("%s: %w", p, plain(err))
	}
	return nil
}

// temporary is a name that no layout has.
func temporary(p string) string {
	return path.Join(path.Dir(p), ".git-checkpoint-"+strings.ToLower(rand.Text()[:12])+".tmp")
}

// database is the path of a database in the file system: no link may lead there.
func (t *target) database(p string) (string, error) {
	if err := t.way(p); err != nil {
		return "", err
	}
	if err := t.root.MkdirAll(path.Dir(p), 0o777); err != nil {
		return "", fmt.Errorf("%s: %w", path.Dir(p), plain(err))
	}
	in := &tree{root: t.root}
	switch _, err := in.real(p); {
	case err == nil, errors.Is(err, fs.ErrNotExist):
	default:
		return "", fmt.Errorf("%s: %w", p, err)
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if info, err := t.root.Lstat(dir); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("%s: a symbolic link leads there", p)
		}
	}
	return filepath.Join(t.dir, filepath.FromSlash(p)), nil
}
