package repair

// This file reports linked worktrees that a killed fork or bisect left half-made.

import (
	"context"
	"fmt"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/linked"
)

// lookAtWorktrees reports linked worktrees whose creation was cut off by a kill. The scratch
// worktree of a bisect holds nothing of the user's, so --fix removes it. The user may have worked
// in a fork.
func lookAtWorktrees(ctx context.Context, s *checkpoint.Service) ([]Ailment, error) {
	left, err := linked.Left(ctx, s)
	if err != nil {
		return nil, err
	}
	var found []Ailment
	for _, n := range left {
		a := Ailment{Kind: "worktree_unfinished", Level: LevelProblem, Object: n.Dir}
		// Only the bisect worktree can be removed without asking.
		switch n.Kind {
		case linked.KindFork:
			a.Message = fmt.Sprintf("the fork %s was cut off, and its worktree is incomplete", n.Session)
			a.Hint = fmt.Sprintf("`git checkpoint fork --remove %s` removes it", n.Session)
		default:
			a.Message = "a bisect was killed, and its scratch worktree is still there"
			a.Hint = "--fix removes it; nothing of yours is in it"
			a.cure = cure{done: "removed", do: func(ctx context.Context) error { return n.Clear(ctx, s) }}
		}
		found = append(found, a)
	}
	return found, nil
}
