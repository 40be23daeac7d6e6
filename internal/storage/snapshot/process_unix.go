//go:build unix

package snapshot

import "golang.org/x/sys/unix"

// running reports whether a process exists. EPERM means that it belongs to another user.
func running(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || err == unix.EPERM
}
