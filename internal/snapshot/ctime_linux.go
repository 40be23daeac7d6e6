package snapshot

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func ctimeOf(st *syscall.Stat_t) time.Time { return time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)) } //nolint:unconvert // 32-bit systems

func statTimes(st *unix.Stat_t) (mtime, ctime fileTime) {
	return fileTime{uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec)}, fileTime{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec)}
}
