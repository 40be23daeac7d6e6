package rollback

import (
	"cmp"
	"context"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/create"
)

// makeSafety makes the safety checkpoint of a capture of the worktree as it is.
func (r *Plan) makeSafety(ctx context.Context, req create.SafetyRequest) (*record.Record, error) {
	req.Session, req.Definition, req.Aside = r.to.Session, r.def, r.branch.aside
	switch {
	case r.promote != nil && r.promote.Reverted != nil:
		req.Message = "before " + r.req.Reason
	case r.promote != nil && r.promote.Branch != nil:
		req.Landed = r.promote.Branch.To
		req.Message = "before " + checkpoint.CalledBy(r.files) + " was landed"
	case r.promote != nil:
		req.Message = "before " + r.promote.What.Mention.Name + " of session " + string(r.promote.What.Session) + " was promoted"
	case r.isUndo():
		did, what := r.levels[0].Rollback, "a restore of some paths"
		if !r.stays {
			what = "the rollback to " + r.nameOf(did)
		}
		if did.Mode == string(ModePromote) || did.Mode == string(ModeLand) {
			what = cmp.Or(did.Reason, what) // "promote 3a: ..."
		}
		req.Message = "before the " + string(r.direction) + " of " + what
	case r.stays:
		req.Message = "before some paths of " + checkpoint.CalledBy(r.files) + " were restored"
	default:
		req.Message = "before the rollback to " + r.nameOf(&journal.Event{To: r.answer.To, ToLabel: r.answer.ToLabel})
	}
	if err := r.leaveUnignored(ctx, req.Capture); err != nil {
		return nil, err
	}
	return create.Safety(ctx, r.s, req)
}

// leaveUnignored takes files out of a capture that were ignored at the last checkpoint and are not any
// more, as a hook leaves them out: nobody asked for a checkpoint of them. Those that the move replaces or
// deletes stay in it and are named, because it would lose them otherwise.
func (r *Plan) leaveUnignored(ctx context.Context, c *snapshot.Capture) error {
	moved := map[string]bool{}
	if r.plan != nil {
		for _, o := range r.plan.Ops {
			moved[o.Path] = true
		}
	}
	var leave, keep []string
	for _, p := range c.Unignored {
		// A file that the target has, too, would look as if the move had written it.
		if _, has, err := r.s.Repo.Trees.Lookup(ctx, r.record.Snapshot.Tree, p); err != nil {
			return err
		} else if moved[p] {
			keep = append(keep, p)
		} else if !has {
			leave = append(leave, p)
		}
	}
	for _, said := range create.SayUnignored(keep) {
		r.s.Warn(said)
	}
	worktree, err := r.s.Worktree()
	if err == nil && len(leave) > 0 {
		err = worktree.LeaveOut(ctx, c, leave)
	}
	return err
}

// nameOf returns what people type for the checkpoint that a rollback went to.
func (r *Plan) nameOf(went *journal.Event) string {
	if e := r.to.State.Entry(went.To); e != nil {
		return checkpoint.CalledBy(e)
	}
	return went.ToLabel
}
