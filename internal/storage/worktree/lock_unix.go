//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package worktree

import (
	"os"
	"runtime"
	"syscall"
)

// Locks says that SQLite's locks can be taken here.
const Locks = true

const forReading, forWriting, forNone = syscall.F_RDLCK, syscall.F_WRLCK, syscall.F_UNLCK

// control calls fcntl for a lock. On Linux it belongs to the open file (F_OFD_GETLK and F_OFD_SETLK). Elsewhere it is
// that of the process, and goes when any descriptor of the file is closed.
func control(f *os.File, cmd int, l *syscall.Flock_t) error {
	if runtime.GOOS == "linux" {
		cmd = map[int]int{syscall.F_GETLK: 36, syscall.F_SETLK: 37}[cmd]
	}
	return syscall.FcntlFlock(f.Fd(), cmd, l)
}

// lock sets or takes away a lock on bytes of a file, and reports whether it is had.
func lock(f *os.File, from, n int64, kind int16) bool {
	return control(f, syscall.F_SETLK, &syscall.Flock_t{Type: kind, Start: from, Len: n}) == nil
}

// lockedBy reports whether somebody else holds a lock on bytes of a file, and which process if that is known.
func lockedBy(f *os.File, from, n int64) (pid int, is bool) {
	asked := syscall.Flock_t{Type: forWriting, Start: from, Len: n}
	err := control(f, syscall.F_GETLK, &asked)
	return int(asked.Pid), err == nil && asked.Type != forNone
}
