package store

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// turn lets a writer that has lost several races go first. A transaction that takes long, such as a
// prune of thousands of checkpoints, would otherwise never win against a process that makes
// checkpoints all the time.
//
// The writer creates the file <common dir>/checkpoint/turn and renews its mtime; the others wait
// before they read the refs. The file is not a lock: two writers may both believe that they have
// the turn, and the ref transaction still decides. A file whose mtime is old is ignored.
type turn struct {
	path string
	stop chan struct{} // closed to give the turn back; nil while this writer does not have it
	done chan struct{} // closed when the renewing goroutine has ended
}

// A writer that lost turnAfter races is given the turn. The file is renewed every turnRenewed and
// is valid for turnFresh. Nobody waits longer than turnWait.
const (
	turnAfter   = 5
	turnRenewed = 500 * time.Millisecond
	turnFresh   = 4 * turnRenewed
	turnWait    = 30 * time.Second
)

// turn returns the turn of this repository, not taken yet.
func (s *localFiles) turn() *turn {
	return &turn{path: filepath.Join(s.repo.CommonDir, "checkpoint", "turn")}
}

// await takes the turn if enough races were lost. Otherwise it waits while another writer has it.
func (t *turn) await(ctx context.Context, try int) error {
	if try > turnAfter {
		t.claim()
	}
	if t.stop != nil {
		return nil
	}
	for began := time.Now(); t.isTaken() && time.Since(began) < turnWait; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// isTaken reports whether the file was renewed recently. A time in the future counts by its
// distance, so that a wrong clock cannot block writers for ever.
func (t *turn) isTaken() bool {
	info, err := os.Lstat(t.path)
	return err == nil && time.Since(info.ModTime()).Abs() < turnFresh
}

// claim creates the file and keeps renewing it. If another writer has the turn, or the file cannot
// be created, the writer goes on without the turn.
func (t *turn) claim() {
	if t.stop != nil || t.isTaken() {
		return
	}
	os.MkdirAll(filepath.Dir(t.path), 0o777) //nolint:errcheck // the next line reports it
	os.Remove(t.path)                        //nolint:errcheck // of one that was killed
	f, err := os.OpenFile(t.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return
	}
	f.Close() //nolint:errcheck // nothing was written
	t.stop, t.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(t.done)
		tick := time.NewTicker(turnRenewed)
		defer tick.Stop()
		for {
			select {
			case <-t.stop:
				return
			case now := <-tick.C:
				os.Chtimes(t.path, now, now) //nolint:errcheck // the next tick tries again
			}
		}
	}()
}

// end gives the turn back.
func (t *turn) end() {
	if t.stop != nil {
		close(t.stop)
		<-t.done
		os.Remove(t.path) //nolint:errcheck // stale in a moment
	}
}
