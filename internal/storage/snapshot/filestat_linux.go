package snapshot

import (
	"io/fs"
	"syscall"

	"git-checkpoint/internal/git"
)

// fileStat returns the stat data that git's index stores for a file, cut to 32 bits as git does.
// It returns false if info is not from the file system.
func fileStat(info fs.FileInfo) (git.FileStat, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return git.FileStat{}, false
	}
	return git.FileStat{
		CtimeSec: uint32(st.Ctim.Sec), CtimeNsec: uint32(st.Ctim.Nsec), MtimeSec: uint32(st.Mtim.Sec), MtimeNsec: uint32(st.Mtim.Nsec),
		Dev: uint32(st.Dev), Inode: uint32(st.Ino), UID: st.Uid, GID: st.Gid, Size: uint32(st.Size),
	}, true
}
