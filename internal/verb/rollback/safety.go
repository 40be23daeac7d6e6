package rollback

import (
	"context"

	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/verb/create"
)

// makeSafety makes the safety checkpoint of a capture of the worktree as it is.
func (r *Plan) makeSafety(ctx context.Context, req create.SafetyRequest) (*record.Record, error) {
	req.Session, req.Definition, req.Aside = r.to.Session, r.def, r.branch.aside
	switch {
	case r.promote != nil && r.promote.Reverted != nil:
		req.Message = "before " + r.req.Reason
	case r.promote != nil && r.promote.branch != nil:
		req.Landed = r.promote.branch.To
		req.Message = "before " + r.promote.What.Label + " was landed"
	case r.promote != nil:
		req.Message = "before " + r.promote.What.Label + " of session " + string(r.promote.What.Session) + " was promoted"
	case r.isUndo() && r.stays:
		req.Message = "before the " + string(r.direction) + " of a restore of some paths"
	case r.isUndo():
		req.Message = "before the " + string(r.direction) + " of the rollback to " + r.levels[0].Rollback.ToLabel
	case r.stays:
		req.Message = "before some paths of " + r.files.Label + " were restored"
	default:
		req.Message = "before the rollback to " + r.answer.ToLabel
	}
	return create.Safety(ctx, r.s, req)
}
