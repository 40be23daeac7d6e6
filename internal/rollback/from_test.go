package rollback_test

import (
	"context"
	"testing"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/rollback"
)

// save makes a checkpoint of what is there, changed or not, and returns its id.
func (w *world) save() name.ID {
	w.t.Helper()
	var id name.ID
	err := w.do(nil, func(ctx context.Context, s *checkpoint.Service) error {
		made, err := create.Checkpoint(ctx, s, create.Request{Message: "saved"})
		if err == nil {
			id = made.Record.ID
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// A checkpoint that somebody makes while the plan is read is the one that was current before the
// rollback, also when the rollback only moves the state: an undo makes it current again.
func TestSavedWhileThePlanIsRead(t *testing.T) {
	for _, mode := range []rollback.Mode{rollback.ModeAll, rollback.ModeState} {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t)
			w.save()
			w.write("file", "two")
			w.save()
			var last name.ID
			if err := w.rollBack(rollback.Request{Mode: mode}, func() { last = w.save() }, nil); err != nil {
				t.Fatal(err)
			}
			err := w.do(nil, func(ctx context.Context, s *checkpoint.Service) error {
				st, err := s.State(ctx, "main")
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
			err = w.do(nil, func(ctx context.Context, s *checkpoint.Service) error {
				st, err := s.State(ctx, "main")
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
