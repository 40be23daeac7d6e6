package hook

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/sys/lockfile"
)

// staleLock is the age after which a lock counts as left behind, even if its process seems to
// run. No hook takes so long.
const staleLock = time.Minute

var errBusy = errors.New("another hook is still running in this worktree")

// lock serialises the hooks of a worktree. Agents start several at the same time, and each
// reads and writes what is remembered of the conversation. It waits until ctx ends. Agents kill
// hooks, so the lock names its process, and the lock of a process that is gone is taken over.
func (m *memory) lock(ctx context.Context) (release func(), err error) {
	if err := os.MkdirAll(m.dir, 0o777); err != nil {
		return nil, err
	}
	name := filepath.Join(m.dir, "lock")
	left := func() bool {
		info, err := os.Lstat(name)
		if err != nil || time.Since(info.ModTime()) > staleLock {
			return true
		}
		holder, err := os.ReadFile(name)
		return err != nil || !snapshot.ProcessRuns(string(holder))
	}
	note := snapshot.ProcessNote() + " " + rand.Text()
	began := time.Now()
	defer func() { m.waited += time.Since(began) }()
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
			return nil, errBusy
		case <-time.After(5 * time.Millisecond):
		}
	}
}
