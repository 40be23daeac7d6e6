//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package worktree

import (
	"os"
	"syscall"
)

// Locks says that SQLite's locks can be taken here.
const Locks = true

// The kinds of locks.
const (
	forReading = syscall.F_RDLCK
	forWriting = syscall.F_WRLCK
	forNone    = syscall.F_UNLCK
)

// lock sets or takes away a lock on bytes of a file, and reports whether it is had.
func lock(f *os.File, from, n int64, kind int16) bool {
	return syscall.FcntlFlock(f.Fd(), setLock, &syscall.Flock_t{Type: kind, Start: from, Len: n}) == nil
}

// lockedBy reports whether somebody else holds a lock on bytes of a file, and which process if that is known.
func lockedBy(f *os.File, from, n int64) (pid int, is bool) {
	asked := syscall.Flock_t{Type: forWriting, Start: from, Len: n}
	err := syscall.FcntlFlock(f.Fd(), getLock, &asked)
	return int(asked.Pid), err == nil && asked.Type != forNone
}
