package run

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/rollback"
)

// This file saves what is there before a step begins. Between tries the files go back to it, and a
// rollback cannot remove work that is in no checkpoint.

// lastGood returns the newest checkpoint from e back that was not made by `run` before a
// step. Those hold whatever was in the worktree at the time. It returns nil if there is
// none.
func lastGood(st *journal.State, e *journal.Entry) *journal.Entry {
	for e != nil && e.Event().Trigger == workflow.TriggerRun {
		e = st.Entry(e.Event().Previous)
	}
	if e == nil || e.Dead {
		return nil
	}
	return e
}

// keepBefore makes a checkpoint of what is there before the first try. If nothing differs
// from the current checkpoint, that one serves.
func (r *running) keepBefore(ctx context.Context) error {
	if r.def == nil {
		return nil
	}
	asked := r.req.Create
	keep := create.Request{
		Session: string(r.answer.Session), Workflow: r.def.Name, Trigger: workflow.TriggerRun, NoTag: true,
		Message: "before " + cmp.Or(asked.Message, nameOf(r.req.Command)), Selection: asked.Selection, Comparison: create.Comparison{SkipUnchanged: true},
	}
	// With the trigger switched off there is nothing to go back to, which is no reason not
	// to run.
	if err := create.CheckTrigger(r.s.Rules, r.def, "", keep.Trigger); err != nil {
		if checkpoint.KindOf(err) == checkpoint.KindNothing {
			r.unkept, err = err.Error(), nil
		}
		return err
	}
	made, err := create.Checkpoint(ctx, r.s, keep)
	switch {
	case checkpoint.KindOf(err) == checkpoint.KindNothing:
		r.before = r.current
		if good := r.answer.LastGood; r.current != nil && (good == nil || good.ID != r.current.ID) {
			r.answer.Start = r.current // what an earlier run kept, for example
		}
		return nil
	case err != nil:
		return err
	}
	r.before = new(checkpoint.LabelledBy(made.Record))
	r.answer.Before, r.answer.Start = r.before, r.before
	return nil
}

// nameOf names a command by its program and the number of its arguments. The arguments themselves
// may hold passwords, and checkpoints are sent to other repositories.
func nameOf(command []string) string {
	program := name.Clip(strings.Join(strings.Fields(filepath.Base(command[0])), " "), 60)
	switch n := len(command) - 1; n {
	case 0:
		return program
	case 1:
		return program + " (1 argument)"
	default:
		return fmt.Sprintf("%s (%d arguments)", program, n)
	}
}

// restore rolls back to a checkpoint and prints that. What the failed try left is kept in
// the safety checkpoint of the rollback. Without a checkpoint it only warns.
func (r *running) restore(ctx context.Context, to *checkpoint.Labelled) error {
	a := r.answer
	if to == nil {
		why := "there is no checkpoint to go back to"
		if r.unkept != "" {
			why = "nothing was rolled back, because what was there before is in no checkpoint: " + r.unkept
		}
		r.s.Store.Warn(why)
		return nil
	}
	plan, err := rollback.Prepare(ctx, r.s, rollback.Request{
		Session: string(a.Session), Ref: string(to.ID), Reason: a.failure(),
	})
	if err != nil {
		return err
	}
	if a.Restored, err = plan.Apply(ctx); err != nil {
		return err
	}
	what := "the last good checkpoint"
	if to == r.before {
		what = "what was there before the first try"
	}
	if r.req.Tell != nil {
		r.req.Tell(fmt.Sprintf("try %d failed: went back to %s, %s", a.Tries, to.Mention, what))
	}
	left := Leftover{Try: a.Tries, Safety: a.Restored.Safety, Before: to.ID}
	if st, err := checkpoint.State(ctx, r.s.Store, a.Session); err == nil {
		left.See = "diff " + checkpoint.NameTo(st, st.Entry(left.Before)) + " " + checkpoint.NameTo(st, st.Entry(left.Safety))
	}
	a.Left = append(a.Left, left)
	return nil
}
