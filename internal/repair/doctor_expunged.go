package repair

import (
	"context"
	"fmt"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/clearance"
)

// lookAtExpunged reports expunged objects that are still in the object store. They can be read
// until git gc removes them.
func lookAtExpunged(ctx context.Context, s *checkpoint.Service) ([]Ailment, error) {
	list, err := clearance.ReadExpunged(s.Repo)
	if err != nil || len(list.Objects) == 0 {
		return nil, err
	}
	// The list of expunged objects is kept locally. An object that is missing by now is gone as
	// intended.
	all := list.Listed()
	missing, err := s.Repo.Batch().Missing(ctx, all)
	if err != nil || len(missing) == len(all) {
		return nil, err
	}
	return []Ailment{{
		Kind: "expunged_objects", Level: LevelAdvice, Object: string(all[0]),
		Message: fmt.Sprintf("%d objects that were expunged are still in this repository", len(all)-len(missing)),
		Hint:    "`git checkpoint guard --all` shows if a checkpoint still holds one; otherwise `git reflog expire --expire=now --all` and `git gc --prune=now` delete them, with everything else that only a reflog holds",
	}}, nil
}
