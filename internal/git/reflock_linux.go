package git

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryFlock locks an open file against all others, unless somebody has done so. It is free again
// when this process has ended in whatever way.
func tryFlock(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// localFileSystem reports whether a directory is on a file system of this machine alone,
// whose locks all processes see and which gives a file a second name.
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
