//go:build unix && !linux

package store

import (
	"os"
	"strconv"
	"syscall"
)

// identity returns the inode number of a file, which differs from that of a copy.
func identity(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(uint64(st.Ino), 10) //nolint:unconvert // the type differs between systems
	}
	return ""
}
