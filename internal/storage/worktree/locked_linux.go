package worktree

import (
	"path"

	"golang.org/x/sys/unix"
)

// LockOf says why no name in a directory can be replaced or removed; "" if it can, or if the system
// does not tell.
func (w *Files) LockOf(dir string) string {
	f, err := w.OpenDir(dir)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // only a directory handle
	if unix.Faccessat(int(f.Fd()), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS) == unix.EACCES {
		return "you have no right to write in this directory"
	}
	return attribute(int(f.Fd()), ".")
}

// HeldBy says which attribute keeps a file from being replaced or removed; "" for none.
func (h *Held) HeldBy(p string) string {
	f := h.has(path.Dir(p))
	if f == nil {
		var err error
		if f, err = h.tree.OpenDir(path.Dir(p)); err != nil {
			return ""
		}
		defer f.Close() //nolint:errcheck // only a directory handle
	}
	return attribute(int(f.Fd()), path.Base(p))
}

// attribute names the attribute of chattr that holds a name of an open directory. File systems
// without them have none.
func attribute(dir int, leaf string) string {
	var st unix.Statx_t
	if err := unix.Statx(dir, leaf, unix.AT_SYMLINK_NOFOLLOW, 0, &st); err != nil {
		return ""
	}
	switch {
	case st.Attributes&unix.STATX_ATTR_IMMUTABLE != 0:
		return "immutable: `chattr -i` makes it an ordinary one"
	case st.Attributes&unix.STATX_ATTR_APPEND != 0:
		return "append-only: `chattr -a` makes it an ordinary one"
	}
	return ""
}
