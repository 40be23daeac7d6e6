//go:build !unix

package snapshot

import "os"

// running reports whether a process exists. On Windows, FindProcess fails if it does not.
func running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release() //nolint:errcheck // it was only looked for
	return true
}
