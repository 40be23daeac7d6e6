package refs

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryFlock locks an open file with flock and reports whether it succeeded. It does not wait. The
// system releases the lock when this process ends, however it ends.
func tryFlock(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }

// localFileSystem reports whether a directory is on a local file system of a known kind. On a
// network file system another machine might not see our flock, and hard links may not work.
func localFileSystem(dir string) bool {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return false
	}
	switch int64(st.Type) { //nolint:unconvert // it has 32 bits on some processors
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return true
	}
	return false
}
