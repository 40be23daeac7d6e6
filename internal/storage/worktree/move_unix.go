//go:build unix

package worktree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// openNoFollow are the flags to open something that lstat has just found to be a file. If it was
// replaced since, a symbolic link is not followed and a pipe does not block.
const openNoFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// inDirectory calls do with the open directory that holds p and the name of p in it, for a call that renames,
// links or removes p. It fails if that directory is reached through a symbolic link. An error of do
// gets the operation and the path.
func (w *Files) inDirectory(op, p string, do func(dir int, leaf string) error) error {
	w.Moved()
	dir := w.Near.has(path.Dir(p))
	if dir == nil {
		var err error
		if dir, err = w.OpenDir(path.Dir(p)); err != nil {
			return err
		}
		defer dir.Close() //nolint:errcheck // only a directory handle
	}
	if err := do(int(dir.Fd()), path.Base(p)); err != nil {
		return &fs.PathError{Op: op, Path: p, Err: err}
	}
	return nil
}

// Rmdir removes an empty directory.
func (w *Files) Rmdir(dir string) error {
	return w.inDirectory("rmdir", dir, func(parent int, leaf string) error { return unix.Unlinkat(parent, leaf, unix.AT_REMOVEDIR) })
}

// MoveOut renames p to the absolute path to. If something is mounted inside the worktree, p may be
// on another file system; then it is copied and removed.
func (w *Files) MoveOut(p, to string) error {
	return w.inDirectory("rename", p, func(dir int, leaf string) error {
		err := unix.Renameat(dir, leaf, unix.AT_FDCWD, to)
		if errors.Is(err, unix.EXDEV) {
			if err = copyAt(dir, leaf, unix.AT_FDCWD, to); err == nil {
				err = unix.Unlinkat(dir, leaf, 0)
			}
		}
		return err
	})
}

// LinkTo links p to the absolute path to, so that p can be replaced in one rename and still be
// there. On another file system it makes a copy. It fails where there are no hard links.
func (w *Files) LinkTo(p, to string) error {
	return w.inDirectory("link", p, func(dir int, leaf string) error {
		err := unix.Linkat(dir, leaf, unix.AT_FDCWD, to, 0)
		if errors.Is(err, unix.EXDEV) {
			err = copyAt(dir, leaf, unix.AT_FDCWD, to)
		}
		return err
	})
}

// RenameOver renames the absolute path from to p and replaces a file that is there. From another file
// system the content is first copied next to p, so that p still changes in one rename.
func (w *Files) RenameOver(from, p string) error {
	return w.inDirectory("rename", p, func(dir int, leaf string) error {
		err := unix.Renameat(unix.AT_FDCWD, from, dir, leaf)
		if !errors.Is(err, unix.EXDEV) {
			return err
		}
		near := StagingPrefix + RandomHex()
		if err := copyAt(unix.AT_FDCWD, from, dir, near); err != nil {
			return err
		}
		if err := unix.Renameat(dir, near, dir, leaf); err != nil {
			unix.Unlinkat(dir, near, 0) //nolint:errcheck // the error says more
			return err
		}
		return os.Remove(from)
	})
}

// CreateFile makes a regular file for writing. os.OpenFile first tries whether it could wait for the
// file, which takes five system calls.
func CreateFile(file string) (*os.File, error) {
	for {
		fd, err := unix.Open(file, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o666)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), file), nil
		case !errors.Is(err, unix.EINTR):
			return nil, &fs.PathError{Op: "create", Path: file, Err: err}
		}
	}
}

// copyAt copies a file or symbolic link with its permission bits and mtime. Each path is relative
// to an open directory. If it fails it removes what it has written.
func copyAt(fromDir int, from string, toDir int, to string) error {
	target := make([]byte, unix.PathMax)
	if n, err := unix.Readlinkat(fromDir, from, target); err == nil {
		return unix.Symlinkat(string(target[:n]), toDir, to)
	}
	fd, err := unix.Openat(fromDir, from, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	in := os.NewFile(uintptr(fd), from)
	defer in.Close() //nolint:errcheck // read only
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if fd, err = unix.Openat(toDir, to, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600); err != nil {
		return err
	}
	out := os.NewFile(uintptr(fd), to)
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(err, out.Close()); err == nil {
		t := unix.NsecToTimespec(info.ModTime().UnixNano())
		err = unix.UtimesNanoAt(toDir, to, []unix.Timespec{t, t}, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		unix.Unlinkat(toDir, to, 0) //nolint:errcheck // the error says more
	}
	return err
}

// ChangeTime returns the ctime of a file: when its content or metadata last changed.
func ChangeTime(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return ctimeOf(st)
	}
	return info.ModTime()
}

// Inode returns the numbers that identify a file. ok is false if the system has none.
func Inode(info fs.FileInfo) (dev, ino uint64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return uint64(st.Dev), st.Ino, true //nolint:unconvert // the type of Dev differs between systems
}

// Links returns how many names (hard links) a file has.
func Links(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(st.Nlink) //nolint:unconvert // the type differs between systems
}
