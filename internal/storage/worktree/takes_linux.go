package worktree

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// TakesDirs reports whether a directory that is made elsewhere and renamed into dir is like one that is made
// in it. It is not if dir passes on its group or an access control list, and where nothing can be
// renamed without the danger to replace something.
func (w *Files) TakesDirs(dir string) bool {
	f, err := w.OpenDir(dir)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only a directory handle
	info, err := f.Stat()
	if err != nil || info.Mode()&fs.ModeSetgid != 0 {
		return false
	}
	_, err = unix.Fgetxattr(int(f.Fd()), "system.posix_acl_default", nil)
	return errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP)
}
