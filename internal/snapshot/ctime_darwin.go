package snapshot

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func ctimeOf(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctimespec.Sec, st.Ctimespec.Nsec) }

func statTimes(st *unix.Stat_t) (mtime, ctime fileTime) {
	//nolint:gosec // the index keeps 32 bits
	return fileTime{uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec)}, fileTime{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec)}
}
