//go:build unix

package snapshot

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const openNoFollow = unix.O_NOFOLLOW

// aside renames p to the absolute path to.
func (w *worktree) aside(p, to string) error {
	dir, err := w.parent(p)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // only a directory handle
	return pathError("rename", p, unix.Renameat(int(dir.Fd()), base(p), unix.AT_FDCWD, to))
}

// keep links p to the absolute path to, so that p can be replaced in one rename.
func (w *worktree) keep(p, to string) error {
	dir, err := w.parent(p)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // only a directory handle
	return pathError("link", p, unix.Linkat(int(dir.Fd()), base(p), unix.AT_FDCWD, to, 0))
}

// place renames the absolute path from to p, replacing a file that is there.
func (w *worktree) place(from, p string) error {
	dir, err := w.parent(p)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // only a directory handle
	return pathError("rename", p, unix.Renameat(unix.AT_FDCWD, from, int(dir.Fd()), base(p)))
}

func pathError(op, p string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: p, Err: err}
}

// changeTime is when content or metadata of a file last changed.
func changeTime(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return ctimeOf(st)
	}
	return info.ModTime()
}

// inode tells files apart; ok is false where the system has none.
func inode(info fs.FileInfo) (dev, ino uint64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return uint64(st.Dev), st.Ino, true //nolint:unconvert // the type of Dev differs between systems
}

// running reports whether a process exists.
func running(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || err == unix.EPERM
}

// links counts the names of a file.
func links(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(st.Nlink) //nolint:unconvert // the type differs between systems
}
