package rollback_test

import (
	"context"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/rollback"
)

// A checkpoint that somebody makes while the plan is read is the one that was current before the
// rollback, also when the rollback only moves the state: an undo makes it current again.
func TestSavedWhileThePlanIsRead(t *testing.T) {
	for _, mode := range []rollback.Mode{rollback.ModeAll, rollback.ModeState} {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t)
			w.Save("saved")
			w.Write("file", "two")
			w.Save("saved")
			var last name.ID
			if err := w.rollBack(rollback.Request{Mode: mode}, func() { last = w.Save("saved") }, nil); err != nil {
				t.Fatal(err)
			}
			err := w.Do(func(ctx context.Context, s *checkpoint.Service) error {
				st, err := checkpoint.State(ctx, s.Store, "main")
				if err != nil {
					return err
				}
				if e := st.Rollbacks[len(st.Rollbacks)-1]; e.From != last || e.FromLabel != "cp-03" {
					t.Errorf("the event came from %s %s, want %s", e.FromLabel, e.From, last)
				}
				r, err := rollback.PrepareUndo(ctx, s, rollback.UndoRequest{})
				if err == nil {
					_, err = r.Apply(ctx)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			err = w.Do(func(ctx context.Context, s *checkpoint.Service) error {
				st, err := checkpoint.State(ctx, s.Store, "main")
				if err == nil && st.Current != last {
					t.Errorf("after the undo %s is current, want %s", st.Current, last)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
