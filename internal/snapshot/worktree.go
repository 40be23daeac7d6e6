package snapshot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// stagingPrefix begins the name of a staging directory in the worktree, made
// where the git directory is on another file system. It is never captured.
const stagingPrefix = ".git-checkpoint-staging-"

// worktree reaches files below the top of a worktree, component by component, so
// that neither a path of 4,000 bytes nor a symbolic link out of it misleads.
type worktree struct {
	root *os.Root
	fd   int // of the top, where paths are reached in one call of the system
	top  string

	mu   sync.Mutex
	real map[string]bool // directories that are no links, until something is moved
}

func openWorktree(top string) (*worktree, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, fmt.Errorf("%w: open the worktree: %w", git.ErrUnusable, err)
	}
	fd, err := openTop(top)
	if err != nil {
		root.Close() //nolint:errcheck // only a directory handle
		return nil, fmt.Errorf("open the worktree: %w", err)
	}
	return &worktree{root: root, fd: fd, top: top, real: map[string]bool{}}, nil
}

func (w *worktree) close() {
	closeTop(w.fd)
	w.root.Close() //nolint:errcheck // only a directory handle
}

// lstat gives nil without an error when nothing is at p, also when a parent is
// not a directory.
func (w *worktree) lstat(p string) (fs.FileInfo, error) {
	if info, err := w.glance(p); absent(err) {
		return nil, nil
	} else if !errors.Is(err, errSlow) {
		return info, err
	}
	if ok, err := w.realDir(path.Dir(p)); !ok || err != nil {
		return nil, err
	}
	info, err := w.root.Lstat(p)
	if absent(err) {
		return nil, nil
	}
	return info, err
}

// realDir reports whether dir is a directory, and so is each above it: a path
// behind a symbolic link is not in the worktree.
func (w *worktree) realDir(dir string) (bool, error) {
	if dir == "." {
		return true, nil
	}
	w.mu.Lock()
	known := w.real[dir]
	w.mu.Unlock()
	if known {
		return true, nil
	}
	if ok, err := w.realDir(path.Dir(dir)); !ok || err != nil {
		return false, err
	}
	info, err := w.root.Lstat(dir)
	if absent(err) || err == nil && !info.IsDir() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	w.mu.Lock()
	w.real[dir] = true
	w.mu.Unlock()
	return true, nil
}

// moved forgets what was known of directories.
func (w *worktree) moved() {
	w.mu.Lock()
	clear(w.real)
	w.mu.Unlock()
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// read gives the content of a file, or the target of a symbolic link, as the
// bytes that git would hash.
func (w *worktree) read(p string, info fs.FileInfo) ([]byte, error) {
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := w.root.Readlink(p)
		return []byte(target), err
	}
	f, err := w.root.OpenFile(p, os.O_RDONLY|openNoFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	return io.ReadAll(f)
}

// readWhole reads a file that may change meanwhile: again, until its size and
// times are the same before and after, three times at most. The info is nil when
// nothing is there.
func (w *worktree) readWhole(p string) (data []byte, info fs.FileInfo, err error) {
	for range 3 {
		if info, err = w.lstat(p); err != nil || info == nil || info.IsDir() {
			return nil, info, err
		}
		data, err = w.read(p, info)
		if absent(err) {
			return nil, nil, nil
		}
		after, statErr := w.lstat(p)
		if err == nil && statErr == nil && after != nil && same(info, after) {
			return data, info, nil
		}
	}
	return data, info, err
}

// hashWhole is the id of a file's content, or of where a link leads to. A large file is
// not held, and not read again: who asks looks whether it is the one that he knows.
func (w *worktree) hashWhole(format, p string) (name.OID, fs.FileInfo, error) {
	info, err := w.lstat(p)
	if err != nil || info == nil || info.Size() < largeFile || !info.Mode().IsRegular() {
		data, info, err := w.readWhole(p)
		return hashBlob(format, data), info, err
	}
	f, err := w.root.OpenFile(p, os.O_RDONLY|openNoFollow, 0)
	if absent(err) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	oid, err := git.HashBlob(format, info.Size(), f)
	if err != nil {
		return "", nil, err
	}
	info, err = w.lstat(p)
	return oid, info, err
}

// same reports whether two looks at a path saw the same version of it.
func same(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime()) &&
		changeTime(a).Equal(changeTime(b)) && os.SameFile(a, b)
}

// readable reports whether a regular file can be opened for reading.
func (w *worktree) readable(p string) bool {
	f, err := w.root.OpenFile(p, os.O_RDONLY|openNoFollow, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// modeOf is the mode that git gives a file; executable follows the owner's bit.
func modeOf(info fs.FileInfo) git.Mode {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return git.ModeSymlink
	case info.Mode().Perm()&0o100 != 0:
		return git.ModeExec
	}
	return git.ModeFile
}

// parent opens the directory that holds p.
func (w *worktree) parent(p string) (*os.File, error) {
	if dir, err := w.enter(path.Dir(p)); !errors.Is(err, errSlow) {
		w.moved() // by whoever asked
		return dir, err
	}
	ok, err := w.realDir(path.Dir(p))
	if err == nil && !ok {
		err = &fs.PathError{Op: "open", Path: path.Dir(p), Err: fs.ErrNotExist}
	}
	w.moved() // by whoever asked
	if err != nil {
		return nil, err
	}
	return w.root.Open(path.Dir(p))
}

// parentOf is the directory of p, base its last component.
func parentOf(p string) string { return path.Dir(p) }

func base(p string) string { return path.Base(p) }

// abs is p as an absolute path; it may be longer than the system takes.
func (w *worktree) abs(p string) string { return filepath.Join(w.top, filepath.FromSlash(p)) }

// IsStaging reports whether a name is one that this program gives to what it stages in
// a worktree. What others call by the prefix is theirs.
func IsStaging(name string) bool {
	random, ours := strings.CutPrefix(name, stagingPrefix)
	return ours && len(random) == len(randomHex()) && strings.Trim(random, "0123456789abcdef") == ""
}

// inStaging reports whether a path is, or lies in, what is staged.
func inStaging(p string) bool {
	return strings.Contains(p, stagingPrefix) && slices.ContainsFunc(strings.Split(p, "/"), IsStaging)
}
