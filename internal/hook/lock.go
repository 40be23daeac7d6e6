package hook

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
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
	for {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return func() { os.Remove(name) }, f.Close() //nolint:errcheck // the next one takes it over by age
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > staleLock {
			os.Remove(name) //nolint:errcheck // somebody else did
			continue
		}
		select {
		case <-ctx.Done():
			return nil, errors.New("another hook of this worktree is still at work")
		case <-time.After(5 * time.Millisecond):
		}
	}
}
