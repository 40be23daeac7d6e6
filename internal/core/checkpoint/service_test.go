package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
)

// A signature in another worktree, such as that of an attempt, may ask for a passphrase where one in
// this worktree may, and ids there come from the same source.
func TestOpenAt(t *testing.T) {
	c := newClones(t, 1, 0).all[0]
	other := filepath.Join(c.w.root, "other")
	c.w.git(c.dir, "worktree", "add", "-q", "--detach", other)
	c.w.git(c.dir, "config", "checkpoint.sign", "true")
	for _, asking := range []bool{false, true} {
		s, err := checkpoint.Open(t.Context(), checkpoint.Options{Dir: c.dir, Env: c.w.env, MayAsk: asking, Random: func() uint32 { return 7 }})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		there, err := checkpoint.OpenAt(t.Context(), s, other)
		if err != nil {
			t.Fatal(err)
		}
		defer there.Close()
		if got := there.Store.Signer.MayAsk; got != asking {
			t.Errorf("here it asks %v, there %v", asking, got)
		}
		if got := there.Store.Random(); got != 7 {
			t.Errorf("another random source: %d", got)
		}
	}
}

// An operation that ran out of time says nothing about a checkpoint: no hint tells to rebuild or to
// delete it.
func TestOutOfTime(t *testing.T) {
	c := newClones(t, 1, 0).all[0]
	s, err := checkpoint.Open(t.Context(), checkpoint.Options{Dir: c.dir, Env: c.w.env})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.DeadlineExceeded)
	for _, err := range []error{
		s.Rules.CorruptError(ctx, nil, &journal.Entry{}, context.DeadlineExceeded),
		checkpoint.DamagedError(&journal.Entry{}, fmt.Errorf("read tree: %w", context.DeadlineExceeded)),
	} {
		if hints := checkpoint.HintsOf(err); len(hints) > 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: %q", err, hints)
		}
	}
}
