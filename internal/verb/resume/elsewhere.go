package resume

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
)

// askElsewhere asks before the files of a checkpoint come onto a different branch from the one it
// was made on. Without Request.Ask it refuses. A detached HEAD at the commit of the checkpoint is
// as good as the branch.
func (r *resumption) askElsewhere(ctx context.Context, req Request, moves bool) error {
	s, g, where := r.s, r.record.Git, r.answer.Elsewhere
	made, now := name.Ref(g.Branch), s.Repo.Head
	if where == "" || moves || (made == "" || now.Branch == "") && g.Head == now.OID {
		return nil
	}
	here := checkpoint.PlaceName(now.Branch)
	if req.Ask != nil {
		return req.Ask(ctx, r.answer.Mention.String()+" was "+where+". Put its files onto "+here+"?")
	}
	e := checkpoint.Failure(checkpoint.KindRefused, "", "%s was %s; nothing was changed", r.answer.Mention, where)
	if command := checkpoint.SwitchTo(ctx, s.Repo, made); command != "" {
		e.Hints = append(e.Hints, "`"+command+"` first, then resume brings the files onto the branch that they belong to")
	}
	e.Hints = append(e.Hints, "-y brings them onto "+here+"; undo takes that back")
	return e
}
