package snapshot

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ctimeOf returns the time of the last change of content or metadata.
func ctimeOf(st *syscall.Stat_t) time.Time { return time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)) } //nolint:unconvert // 32-bit systems

// statTimes returns mtime and ctime as the index stores them.
func statTimes(st *unix.Stat_t) (mtime, ctime fileTime) {
	return fileTime{uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec)}, fileTime{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec)}
}
