package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrMoved says that another rollback moved files while this one looked at them.
var ErrMoved = errors.New("another rollback went on in this worktree meanwhile")

// A capture that began or ended in the middle of a rollback would hold one half of each
// side, so that there is a mark which every rollback changes before it moves a file.
func (s *Shot) markPath() string { return filepath.Join(s.dir, "moved") }

func (s *Shot) mark() string {
	data, _ := os.ReadFile(s.markPath()) //nolint:errcheck // none yet
	return string(data)
}

// moveOn changes the mark. It is only called with the index locked.
func (s *Shot) moveOn() error {
	if err := os.WriteFile(s.markPath(), []byte(randomHex()), 0o666); err != nil {
		return fmt.Errorf("mark the worktree: %w", err)
	}
	return nil
}

const (
	settlePause = 10 * time.Millisecond
	settleTime  = 10 * time.Second
	settleTries = 50
)

// settled waits until no running process moves files here. One that was killed is not
// waited for.
func (s *Shot) settled(ctx context.Context) error {
	for end := time.Now().Add(settleTime); s.moving() && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(settlePause):
		}
	}
	return nil
}

// moving reports whether another process that runs is in the middle of a rollback.
func (s *Shot) moving() bool { return Moving(s.dir) }

// Take captures the worktree and what is staged. It writes objects, never refs.
func (s *Shot) Take(ctx context.Context, rules Rules) (*Capture, error) {
	for tries := 0; ; tries++ {
		if err := s.settled(ctx); err != nil {
			return nil, err
		}
		mark := s.mark()
		c, err := s.take(ctx, rules)
		if s.mark() == mark {
			if c != nil {
				c.mark = mark
			}
			return c, err
		}
		if tries == settleTries {
			return nil, fmt.Errorf("capture the worktree: %w", ErrMoved)
		}
	}
}
