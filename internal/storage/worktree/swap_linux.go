package worktree

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Swap exchanges the files at the absolute path from and at p in one step. It returns ErrNoSwap
// if the kernel or the file system cannot do that.
func (w *Files) Swap(from, p string) error { return w.rename2(from, p, unix.RENAME_EXCHANGE) }

// RenameNew renames the absolute path from to p, and fails with fs.ErrExist if p exists. It returns
// ErrNoSwap as Swap does.
func (w *Files) RenameNew(from, p string) error { return w.rename2(from, p, unix.RENAME_NOREPLACE) }

func (w *Files) rename2(from, p string, flags uint) error {
	return w.inDirectory("rename", p, func(dir int, leaf string) error {
		err := unix.Renameat2(unix.AT_FDCWD, from, dir, leaf, flags)
		if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EXDEV) {
			return ErrNoSwap
		}
		return err
	})
}
