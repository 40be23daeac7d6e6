package store

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/internal/sys/lockfile"
)

// turn lets a writer that has lost several races go first. A transaction that takes long, such as a
// prune of thousands of checkpoints, would otherwise never win against a process that makes
// checkpoints all the time.
//
// The writer holds the file <common dir>/checkpoint/turn; the others wait for it before they read the
// refs. It is not a lock of these: the ref transaction still decides, also where no file can be held.
type turn struct {
	path    string
	release func() // nil while this writer does not have the turn
}

// A writer that lost turnAfter races is given the turn. Nobody waits for it longer than turnWait.
const (
	turnAfter = 5
	turnWait  = 30 * time.Second
)

// turn returns the turn of this repository, not taken yet.
func (s *localFiles) turn() *turn {
	return &turn{path: filepath.Join(s.repo.CommonDir, "checkpoint", "turn")}
}

// await waits while another writer has the turn, and takes it if enough races were lost.
func (t *turn) await(ctx context.Context, try int) (err error) {
	if t.release != nil {
		return nil
	}
	if try > turnAfter {
		os.MkdirAll(filepath.Dir(t.path), 0o777)                           //nolint:errcheck // then it goes on without the turn
		if f, err := os.OpenFile(t.path, os.O_CREATE, 0o666); err == nil { // as above
			f.Close() //nolint:errcheck // nothing was written
		}
	}
	held := make(chan func(), 1)
	go func() { held <- lockfile.Hold(t.path) }()
	select {
	case t.release = <-held:
		if try <= turnAfter {
			t.end()
		}
		return nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-time.After(turnWait):
	}
	go func() { (<-held)() }() // when it comes, nobody waits for it any more
	return err
}

// end gives the turn back.
func (t *turn) end() {
	if t.release != nil {
		t.release()
		t.release = nil
	}
}
