package resume

import (
	"context"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/rollback"
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
	if command := switchTo(ctx, s, made); command != "" {
		e.Hints = append(e.Hints, "`"+command+"` first, then resume brings the files onto the branch that they belong to")
	}
	e.Hints = append(e.Hints, "-y brings them onto "+here+"; undo takes that back")
	return e
}

// switchTo returns the command that puts HEAD on a branch: one that exists here and is free, or that
// git makes because exactly one remote has it. It is empty if there is none.
func switchTo(ctx context.Context, s *checkpoint.Service, branch name.Ref) string {
	if !strings.HasPrefix(string(branch), "refs/heads/") || rollback.BranchIsFree(ctx, s, branch) != nil {
		return ""
	}
	command := "git switch " + name.Quoted(branch.Short())
	if _, err := s.Repo.Refs.Resolve(ctx, branch); err == nil {
		return command
	}
	if guess, err := s.Repo.Config.Bool("checkout.guess", true); err != nil || !guess {
		return ""
	}
	refs, err := s.Repo.Refs.List(ctx, "refs/remotes/")
	of := 0
	for _, r := range refs {
		remote, on, _ := strings.Cut(strings.TrimPrefix(string(r.Ref), "refs/remotes/"), "/")
		if remote != "" && on == branch.Short() {
			of++
		}
	}
	if err != nil || of != 1 {
		return ""
	}
	return command
}
