package background

import (
	"os"
	"time"
)

// Lock takes the lock; one that a kill left behind is taken over by age.
func Lock(lock string) bool {
	for range 2 {
		f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666) // as git's own files are
		if err == nil {
			f.Close() //nolint:errcheck // nothing was written
			return true
		}
		info, err := os.Stat(lock)
		if err != nil || time.Since(info.ModTime()).Abs() < StaleAfter {
			return false
		}
		os.Remove(lock) //nolint:errcheck // the next try tells
	}
	return false
}
