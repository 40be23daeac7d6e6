package background

import (
	"os"
	"time"
)

// Lock creates a lock file and reports whether it could. A lock older than StaleAfter was left by
// a process that was killed; it is removed, and the lock is taken over. A caller that may hold
// the lock for longer must renew its mtime (keepFresh), and must remove it in the end.
func Lock(lock string) bool {
	for range 2 {
		f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666) // as git's own files are
		if err == nil {
			f.Close() //nolint:errcheck // nothing was written
			return true
		}
		// Abs treats a lock from the future, after the clock was set back, by its distance as
		// well.
		info, err := os.Stat(lock)
		if err != nil || time.Since(info.ModTime()).Abs() < StaleAfter {
			return false
		}
		os.Remove(lock) //nolint:errcheck // the next try tells
	}
	return false
}
