package store

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// identity tells a file from a copy of it: its inode, and when that was made, because the
// inode of a file that was removed is given to the next one.
func identity(path string) string {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &st) != nil {
		return ""
	}
	if st.Mask&unix.STATX_BTIME == 0 { // a file system that does not keep it
		st.Btime = unix.StatxTimestamp{}
	}
	return fmt.Sprintf("%d@%d.%09d", st.Ino, st.Btime.Sec, st.Btime.Nsec)
}
