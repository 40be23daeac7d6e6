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
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/retain"
)

// pruneWith adds to the change what the workflow's retention rules prune now that the new
// checkpoint exists. Both happen in one transaction. Problems are reported as warnings: they must
// not make the create fail.
func (d *draft) pruneWith(ctx context.Context, change *store.Change, made journal.Event) {
	s, def := d.in.s, d.got.def
	if d.isNew || d.in.safety || made.Trigger == workflow.TriggerRun { // the step of `run` is not done yet
		return
	}
	on, err := retain.Automatic(s.Settings, def, made.Trigger)
	if err != nil || !on {
		if err != nil {
			s.Store.Warn(err.Error())
		}
		return
	}
	items := retain.ItemsWith(d.st, &made, d.in.req.Pinned)
	verdicts, err := retain.Judge(ctx, s.Rules, d.st, items, workflow.Policy{})
	if err != nil {
		s.Store.Warn("automatic prune: " + err.Error())
		return
	}
	e := eventOf(d.event, journal.KindPrune)
	e.Reason = "pruned"
	own := retain.Own(s.Store)
	all, _ := retain.Automatic(s.Settings, def, "") //nolint:errcheck // it was read above
	// A safety checkpoint is never pruned here: the undo of a rollback needs it.
	for i, verdict := range verdicts {
		entry := d.st.Entry(name.ID(verdict.ID))
		if verdict.Keep || entry == nil || entry.Safety || !own(entry.Event()) {
			continue
		}
		// Nobody asked: pruning is automatic for the whole workflow, or for the trigger of one that is not discarded.
		if one, err := retain.Automatic(s.Settings, def, items[i].Trigger); !all && (err != nil || !one || items[i].Discarded) {
			continue
		}
		e.Tombstones = append(e.Tombstones, journal.Tombstone{ID: entry.Checkpoint, Commit: entry.Event().Commit, Record: entry.Event().Record, Reason: verdict.Reason})
		change.Remove = append(change.Remove, store.Removal{ID: entry.Checkpoint})
		d.pruned = append(d.pruned, checkpoint.Labelled{ID: entry.Checkpoint, Label: entry.Label})
	}
	if len(e.Tombstones) > 0 {
		change.Events = append(change.Events, e)
	}
}

// pruneAfter applies what is left of the retention rules, if they are automatic for the whole workflow: to a session that the
// status of this checkpoint ends, to checkpoints between steps that take up too much space, after one of them was made, and
// to the other sessions of the workflow that are due because of their age. It returns what went. Errors are warnings.
func (d *draft) pruneAfter(ctx context.Context) (gone []checkpoint.Labelled, expired []name.Session) {
	s, def, r := d.in.s, d.got.def, d.record
	warn := func(err error) {
		if err != nil {
			s.Store.Warn("automatic prune: " + err.Error())
		}
	}
	on, err := retain.Automatic(s.Settings, def, "")
	if err != nil || !on {
		warn(err)
		return nil, nil
	}
	var ended, thinned []retain.Judged
	if status := def.Statuses.Closes[r.Status]; status != "" {
		ended, err = endSession(ctx, s, r, status)
		warn(err)
	}
	if r.Trigger != workflow.TriggerRun {
		if !r.Milestone && r.Trigger != workflow.TriggerManual {
			thinned, err = retain.Thin(ctx, s, r.Session, capturedBytes(s.Repo, r))
			warn(err)
		}
		expired, err = retain.RemoveDue(ctx, s, def, r.Session)
		warn(err)
	}
	return gather.List(slices.Concat(ended, thinned), func(j retain.Judged) checkpoint.Labelled { return checkpoint.Labelled{ID: j.ID, Label: j.Label} }), expired
}

// capturedBytes returns the size of the files that a checkpoint captured anew, as far as they are still
// there.
func capturedBytes(repo *git.Repo, rec *record.Record) (bytes int64) {
	for _, p := range slices.Concat(rec.Files.Created, rec.Files.Modified) {
		if info, err := os.Lstat(filepath.Join(repo.WorkTree, string(p))); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// endSession prunes what the workflow does not keep of the session of a checkpoint that has a final status. If that
// includes the checkpoint itself, a close event stores the status in the journal first.
func endSession(ctx context.Context, s *checkpoint.Service, made *record.Record, status string) ([]retain.Judged, error) {
	plan, err := retain.PlanPrune(ctx, s, retain.PruneRequest{Session: string(made.Session), Automatic: true, Closing: status})
	if err != nil {
		return nil, err
	}
	// Close first: after the prune nothing would say how the session ended.
	if slices.ContainsFunc(plan.Answer().Pruned, func(j retain.Judged) bool { return j.ID == made.ID }) {
		if err := checkpoint.Append(ctx, s.Store, made.Session, journal.KindClose, func(e *journal.Event) { e.Status = status }); err != nil {
			return nil, err
		}
		if err := checkpoint.Deactivate(s.Store, made.Session); err != nil {
			return nil, err
		}
	}
	gone, err := plan.Apply(ctx)
	if err != nil {
		return nil, err
	}
	return gone.Pruned, nil
}
