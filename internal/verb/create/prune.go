package create

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/retain"
)

// pruneWith adds to the change what the workflow's retention rules prune now that the new
// checkpoint exists. Both happen in one transaction. Problems are reported as warnings: they must
// not make the create fail.
func (c *draft) pruneWith(ctx context.Context, v store.View, change *store.Change, made journal.Event) {
	if v.State == nil || c.safety || made.Trigger == workflow.TriggerRun { // the step of `run` is not done yet
		return
	}
	on, err := retain.Automatic(c.s, c.def, made.Trigger)
	if err != nil || !on {
		if err != nil {
			c.s.Warn(err.Error())
		}
		return
	}
	items := retain.ItemsWith(v.State, &made, c.req.Pinned)
	verdicts, err := retain.Judge(ctx, c.s, v.State, items, workflow.Policy{})
	if err != nil {
		c.s.Warn("automatic prune: " + err.Error())
		return
	}
	e := c.eventOf(journal.KindPrune)
	e.Reason = "pruned"
	own := retain.Own(c.s)
	// A safety checkpoint is never pruned here: the undo of a rollback needs it.
	for i, verdict := range verdicts {
		entry := v.State.Entry(name.ID(verdict.ID))
		if verdict.Keep || entry == nil || entry.Safety || !own(entry.Event()) || !c.prunes(items[i]) {
			continue
		}
		e.Tombstones = append(e.Tombstones, journal.Tombstone{ID: entry.Checkpoint, Commit: entry.Event().Commit, Record: entry.Event().Record, Reason: verdict.Reason})
		change.Remove = append(change.Remove, store.Removal{ID: entry.Checkpoint})
		c.pruned = append(c.pruned, checkpoint.Labelled{ID: entry.Checkpoint, Label: entry.Label})
	}
	if len(e.Tombstones) > 0 {
		change.Events = append(change.Events, e)
	}
}

// prunes reports whether a checkpoint may be pruned without the user asking for it: either pruning
// is automatic for the whole workflow, or for the trigger of the checkpoint and it is not
// discarded.
func (c *draft) prunes(item workflow.Item) bool {
	if all, err := retain.Automatic(c.s, c.def, ""); err == nil && all {
		return true
	}
	own, err := retain.Automatic(c.s, c.def, item.Trigger)
	return err == nil && own && !item.Discarded
}

// pruneOver applies the retention rules for finished sessions if this checkpoint's status ends its
// session, and returns what they pruned. The status comes from a document, so nothing is closed or
// deleted unless retention is automatic.
func (c *draft) pruneOver(ctx context.Context) []checkpoint.Labelled {
	status := c.def.Statuses.Closes[c.record.Status]
	if status == "" || c.safety {
		return nil
	}
	return c.automatically(func() ([]retain.Judged, error) { return c.endSession(ctx, status) })
}

// automatically returns what a prune took away, if pruning is automatic for the whole workflow. An error of it is
// a warning.
func (c *draft) automatically(prune func() ([]retain.Judged, error)) []checkpoint.Labelled {
	on, err := retain.Automatic(c.s, c.def, "")
	var gone []retain.Judged
	if err == nil && on {
		gone, err = prune()
	}
	if err != nil {
		c.s.Warn("automatic prune: " + err.Error())
	}
	return gather.List(gone, func(j retain.Judged) checkpoint.Labelled { return checkpoint.Labelled{ID: j.ID, Label: j.Label} })
}

// thin removes the oldest checkpoints between steps if they take up too much space, after one of
// them was made.
func (c *draft) thin(ctx context.Context) []checkpoint.Labelled {
	if c.record.Milestone || c.safety || c.record.Trigger == workflow.TriggerManual || c.record.Trigger == workflow.TriggerRun {
		return nil
	}
	return c.automatically(func() ([]retain.Judged, error) {
		return retain.Thin(ctx, c.s, c.session, CapturedBytes(c.s, c.record))
	})
}

// CapturedBytes returns the size of the files that a checkpoint captured anew, as far as they are still
// there.
func CapturedBytes(s *checkpoint.Service, rec *record.Record) (bytes int64) {
	for _, p := range slices.Concat(rec.Files.Created, rec.Files.Modified) {
		if info, err := os.Lstat(filepath.Join(s.Repo.WorkTree, string(p))); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// pruneDue removes the other sessions of this workflow that are due because of their age, and returns
// them.
func (c *draft) pruneDue(ctx context.Context) []name.Session {
	if c.safety || c.record.Trigger == workflow.TriggerRun {
		return nil
	}
	expired, err := retain.RemoveDue(ctx, c.s, c.def, c.session)
	if err != nil {
		c.s.Warn("automatic prune: " + err.Error())
	}
	return expired
}

// endSession prunes what the workflow does not keep of a session with this final status. If that
// includes the new checkpoint, which holds the status, a close event stores the status in the
// journal first.
func (c *draft) endSession(ctx context.Context, status string) ([]retain.Judged, error) {
	plan, err := retain.PlanPrune(ctx, c.s, retain.PruneRequest{Session: string(c.session), Automatic: true, Closing: status})
	if err != nil {
		return nil, err
	}
	isThis := func(j retain.Judged) bool { return j.ID == c.record.ID }
	// Close first: after the prune nothing would say how the session ended.
	if slices.ContainsFunc(plan.Answer().Pruned, isThis) {
		if err := c.s.Append(ctx, c.session, journal.KindClose, func(e *journal.Event) { e.Status = status }); err != nil {
			return nil, err
		}
		if err := c.s.Deactivate(c.session); err != nil {
			return nil, err
		}
	}
	gone, err := plan.Apply(ctx)
	if err != nil {
		return nil, err
	}
	return gone.Pruned, nil
}
