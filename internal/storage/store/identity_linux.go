package store

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// identity returns a text that is the same for a file as long as it exists, and different for a
// copy of it: the inode number and the time of its creation. The time is needed because the inode
// number of a deleted file is used again. It is empty if the file cannot be examined.
func identity(path string) string {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &st) != nil {
		return ""
	}
	if st.Mask&unix.STATX_BTIME == 0 { // the file system does not store it
		st.Btime = unix.StatxTimestamp{}
	}
	return fmt.Sprintf("%d@%d.%09d", st.Ino, st.Btime.Sec, st.Btime.Nsec)
}
