package rollback

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
)

// Unignored is a file that is ignored now and not afterwards, or a directory with such files.
type Unignored struct {
	Path  checkpoint.Path `json:"path"`            // a directory ends in "/"
	Files int             `json:"files,omitempty"` // how many are in the directory
}

// answerUnignored lists what the ignore rules of the target no longer match. The next checkpoint
// would take it.
func answerUnignored(ctx context.Context, r *Plan) error {
	shot, err := r.s.Shot()
	if err != nil {
		return err
	}
	list, err := shot.Unignored(ctx, r.plan)
	if err != nil {
		return err
	}
	for _, u := range list {
		r.answer.Plan.Unignored = append(r.answer.Plan.Unignored, Unignored{checkpoint.Path(u.Path), u.Files})
	}
	return nil
}
