package store

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// turn lets a writer that lost several races go first: a prune of thousands takes longer than
// a create, and beside one that makes checkpoints all the time would never be done. Its
// file says so to the others, who wait before they read. It is no lock: what decides is the
// transaction of refs, and a file that nobody renews counts for nothing.
type turn struct {
	path string
	stop chan struct{} // closed to give an own turn back; nil without one
	done chan struct{}
}

const (
	turnAfter   = 5 // lost races
	turnRenewed = 500 * time.Millisecond
	turnFresh   = 4 * turnRenewed
	turnWait    = 30 * time.Second
)

func (s *Store) turn() *turn {
	return &turn{path: filepath.Join(s.Repo.CommonDir, "checkpoint", "turn")}
}

// await takes the turn after enough races, and otherwise waits while another writer has it.
func (t *turn) await(ctx context.Context, try int) error {
	if try > turnAfter {
		t.take()
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

func (t *turn) isTaken() bool {
	info, err := os.Lstat(t.path)
	return err == nil && time.Since(info.ModTime()).Abs() < turnFresh
}

// take makes the file and keeps it fresh, unless another writer has it or it cannot be
// made: then it goes on as before.
func (t *turn) take() {
	if t.stop != nil || t.isTaken() {
		return
	}
	os.MkdirAll(filepath.Dir(t.path), 0o777) //nolint:errcheck // the next line says it
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

// end gives it back.
func (t *turn) end() {
	if t.stop != nil {
		close(t.stop)
		<-t.done
		os.Remove(t.path) //nolint:errcheck // stale in a moment
	}
}
