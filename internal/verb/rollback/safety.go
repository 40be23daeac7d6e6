package rollback

import (
	"context"
	"io/fs"

	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/create"
)

// makeSafety makes the safety checkpoint from a capture of the worktree as it is.
func (r *Plan) makeSafety(ctx context.Context, cur *snapshot.Capture, modes map[string]fs.FileMode, made []create.MadeFile) (*record.Record, error) {
	req := create.SafetyRequest{
		Session: r.to.Session, Definition: r.def, Capture: cur, Aside: r.branch.aside, Modes: modes, Made: made,
		Message: "before the rollback to " + r.answer.ToLabel,
	}
	if r.isUndo() {
		req.Message = "before the " + string(r.direction) + " of the rollback to " + r.levels[0].Rollback.ToLabel
	}
	switch {
	case r.promote == nil:
	case r.promote.Reverted != nil:
		req.Message = "before " + r.req.Reason
	case r.promote.branch != nil:
		req.Landed = r.promote.branch.To
		req.Message = "before " + r.promote.What.Label + " was landed"
	default:
		req.Message = "before " + r.promote.What.Label + " of session " + string(r.promote.What.Session) + " was promoted"
	}
	return create.Safety(ctx, r.s, req)
}
