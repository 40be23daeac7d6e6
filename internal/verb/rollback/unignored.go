package rollback

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/storage/snapshot"
)

// Unignored is a file that is ignored now and no longer after the rollback, or a directory with
// such files.
type Unignored struct {
	Path  checkpoint.Path `json:"path"`            // a directory ends in "/"
	Files int             `json:"files,omitempty"` // how many are in the directory
}

// unignored lists what the ignore rules of the target no longer match. The next checkpoint
// would take it.
func unignored(ctx context.Context, s *checkpoint.Service, plan *snapshot.Plan) (list []Unignored, err error) {
	shot, err := s.Worktree()
	if err != nil {
		return nil, err
	}
	found, err := shot.Unignored(ctx, plan)
	if err != nil {
		return nil, err
	}
	for _, u := range found {
		list = append(list, Unignored{checkpoint.Path(u.Path), u.Files})
	}
	return list, nil
}
