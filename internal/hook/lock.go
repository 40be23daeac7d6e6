package hook

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/internal/lockfile"
)

// staleLock is the age after which the process that holds a lock counts as dead. No hook
// takes so long.
const staleLock = time.Minute

// lock serialises the hooks of a worktree. Agents start several at the same time, and each
// reads and writes what is remembered of the conversation. It waits until ctx ends.
func (h *Handler) lock(ctx context.Context) (release func(), err error) {
	if err := os.MkdirAll(h.Dir, 0o777); err != nil {
		return nil, err
	}
	name := filepath.Join(h.Dir, "lock")
	left := func() bool {
		info, err := os.Lstat(name)
		return err != nil || time.Since(info.ModTime()) > staleLock
	}
	note := rand.Text()
	for {
		mine, err := lockfile.Take(name, note, left)
		if err != nil {
			return nil, err
		}
		if mine {
			return func() { lockfile.Release(name, note) }, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.New("another hook is still running in this worktree")
		case <-time.After(5 * time.Millisecond):
		}
	}
}
