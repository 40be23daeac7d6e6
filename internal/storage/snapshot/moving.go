package snapshot

// A capture that runs while a rollback moves files would hold a mixture of both sides. Two things
// prevent that. A capture first waits until no live process is in the middle of a rollback
// (settled), and fails if that takes too long. And each rollback changes a mark file before it
// moves anything, so a capture that finds at its end that the mark has changed, or that a rollback
// is going on, starts again (Take).

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/lockfile"
)

// ErrMoved says that another rollback moved files since the worktree was captured.
var ErrMoved = errors.New("another rollback ran in this worktree in the meantime")

// markPath is the file with the mark: a random text that every rollback replaces.
func (s *checkout) markPath() string { return filepath.Join(s.dir, "moved") }

// mark reads the mark; it is "" before the first rollback.
func (s *checkout) mark() string {
	data, _ := os.ReadFile(s.markPath()) //nolint:errcheck // none yet
	return string(data)
}

// moveOn changes the mark. The index is locked then, unless somebody removed the lock of a
// restore that was killed.
func (s *checkout) moveOn() error {
	perm := s.repo.Settings.PrivateMode()
	err := os.WriteFile(s.markPath(), []byte(worktree.RandomHex()), perm)
	if err == nil {
		err = os.Chmod(s.markPath(), perm) // an earlier version gave everybody the right to read it
	}
	if err != nil {
		return fmt.Errorf("mark the worktree: %w", err)
	}
	return nil
}

// settled waits until no running process moves files in this worktree. It does not wait for one
// that was killed. If files are still being moved after settleTime it fails with ErrBusy.
func (s *checkout) settled(ctx context.Context) error {
	const settlePause, settleTime = 10 * time.Millisecond, 10 * time.Second // it polls every settlePause, for settleTime at most
	for end := time.Now().Add(settleTime); Moving(s.dir); {
		if time.Now().After(end) {
			return fmt.Errorf("capture the worktree: %w", ErrBusy)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(settlePause):
		}
	}
	return nil
}

// cutOff reports whether a rollback was cut off here that this process does not own.
func (s *checkout) cutOff() bool {
	if _, err := os.Lstat(intentPath(s.dir)); err != nil {
		return false
	}
	return !lockfile.Holds(ownerPath(s.dir), ProcessNote()+"\n")
}
