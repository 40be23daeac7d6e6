//go:build unix

package lockfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// Hold locks a directory against every other call of Hold until release is called. The kernel
// ends the lock with the process, so that a kill leaves nothing. Where a directory cannot be
// locked, as on some network file systems, nothing is held.
func Hold(dir string) (release func()) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for err = unix.EINTR; err == unix.EINTR; { //nolint:errorlint // an Errno
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	return func() { f.Close() } //nolint:errcheck // only a directory handle
}
