//go:build unix

package checkpoint

import (
	"io/fs"
	"syscall"
)

// ownerOf returns the account that a file belongs to.
func ownerOf(info fs.FileInfo) (uid int, known bool) {
	if info == nil {
		return 0, false
	}
	st, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return int(st.Uid), true
}
