package background

import (
	"crypto/rand"
	"os"
	"time"

	"git-checkpoint/internal/sys/lockfile"
)

// Lock creates a lock file and reports whether it could. The lock is kept fresh until release is
// called, which removes it. A lock older than StaleAfter was left by a process that was killed; it
// is taken over.
func Lock(lock string) (release func(), ok bool) {
	note := rand.Text()
	ok, err := lockfile.Take(lock, note, func() bool {
		info, err := os.Lstat(lock)
		// Abs treats a lock from the future, after the clock was set back, by its distance as
		// well.
		return err != nil || time.Since(info.ModTime()).Abs() >= StaleAfter
	})
	if err != nil || !ok {
		return nil, false
	}
	done := keepFresh(lock, note)
	return func() {
		done()
		lockfile.Release(lock, note)
	}, true
}

// keepFresh renews the mtime of a lock while it is held, until done is called, because packing or
// a push may take longer than StaleAfter. After the machine was asleep another process may hold it.
func keepFresh(lock, note string) (done func()) {
	stop := make(chan struct{})
	go func() {
		ticker := time.NewTicker(StaleAfter / 10)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case now := <-ticker.C:
				if lockfile.Holds(lock, note) {
					os.Chtimes(lock, now, now) //nolint:errcheck // the next tick tries again
				}
			}
		}
	}()
	return func() { close(stop) }
}
