package create

import (
	"context"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/retain"
	"git-checkpoint/internal/store"
	"git-checkpoint/internal/workflow"
)

// pruneWith lets go, in the transaction of a create, what the workflow does not keep
// beside the new checkpoint; a session that is over goes at a prune that somebody asks
// for. It fails no create.
func (c *creation) pruneWith(ctx context.Context, v store.View, change *store.Change, made journal.Event) {
	if v.State == nil || c.safety || made.Trigger == workflow.TriggerRun { // nothing is done yet
		return
	}
	// A definition of the repository's own is committed, so that anybody who is pulled from
	// could delete by it: it prunes by itself only where the user's configuration says so.
	_, builtIn := workflow.Builtin(c.def.Name)
	on, err := c.s.Settings.Bool("checkpoint.autoPrune", builtIn && c.def.Retention.Automatic)
	if err != nil || !on {
		if err != nil {
			c.s.Warn(err.Error())
		}
		return
	}
	items := retain.ItemsOf(v.State)
	for i := range items {
		items[i].Current = false
	}
	items = append(items, workflow.Item{
		ID: string(made.Checkpoint), Step: made.Step, Trigger: made.Trigger, Worktree: made.WorktreeID,
		Pinned: c.req.Pin == PinYes, Current: true, CreatedAt: made.Time,
	})
	verdicts, err := retain.Judge(ctx, c.s, v.State, items, workflow.Policy{})
	if err != nil {
		c.s.Warn("automatic prune: " + err.Error())
		return
	}
	e, err := c.s.NewEvent(journal.KindPrune, c.session)
	if err != nil {
		return
	}
	e.Time, e.Reason = made.Time, "pruned"
	for _, verdict := range verdicts {
		entry := v.State.Entry(name.ID(verdict.ID))
		if verdict.Keep || entry == nil {
			continue
		}
		e.Tombstones = append(e.Tombstones, journal.Tombstone{ID: entry.Checkpoint, Commit: entry.Event().Commit, Record: entry.Event().Record, Reason: verdict.Reason})
		change.Remove = append(change.Remove, store.Removal{ID: entry.Checkpoint})
	}
	if len(e.Tombstones) > 0 {
		change.Events = append(change.Events, e)
	}
}
