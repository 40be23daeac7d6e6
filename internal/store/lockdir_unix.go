//go:build unix

package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockDir waits for the flock of a directory and returns the function that releases it. The system
// releases it too when this process ends, however it ends. Where a directory cannot be locked, such
// as on some network file systems, the caller goes on without.
func lockDir(dir string) (unlock func()) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for unix.Flock(int(f.Fd()), unix.LOCK_EX) == unix.EINTR { //nolint:revive // a signal came; wait on
	}
	return func() { f.Close() } //nolint:errcheck // it was only locked
}
