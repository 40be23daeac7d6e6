package worktree

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// errSlow says that a path must be checked one component at a time: it is longer than PATH_MAX,
// or openat2 is not available (before Linux 5.6, or forbidden by a seccomp filter).
var errSlow = errors.New("one component at a time")

// reach opens p below the top with one system call. It fails with fs.ErrNotExist if a symbolic
// link is on the way or if p leads out of the worktree. If p itself is a link, O_PATH opens the
// link.
func (w *Files) reach(p string, flags uint64) (*os.File, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	for range 100 { // EAGAIN: a rename somewhere made the kernel unsure
		fd, err := unix.Openat2(int(w.dir.Fd()), p, &how)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), p), nil
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM), errors.Is(err, unix.ENAMETOOLONG), errors.Is(err, unix.E2BIG), errors.Is(err, unix.EINVAL):
			return nil, errSlow
		case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EXDEV):
			return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
		}
		return nil, &fs.PathError{Op: "open", Path: p, Err: err}
	}
	return nil, errSlow
}

// fastLstat is lstat with one system call. If nothing is there the error is fs.ErrNotExist or
// ENOTDIR.
func (w *Files) fastLstat(p string) (fs.FileInfo, error) {
	f, err := w.reach(p, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only looked at
	return f.Stat()
}

// enter opens a directory for reading. No link is followed.
func (w *Files) enter(dir string) (*os.File, error) {
	return w.reach(dir, unix.O_RDONLY|unix.O_DIRECTORY)
}
