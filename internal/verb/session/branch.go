package session

import (
	"context"
	"errors"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// ownBranch creates the branch of a new session at HEAD and switches to it. A branch that
// exists is used only if it is at HEAD and no other worktree has it checked out. The files
// do not change.
func ownBranch(ctx context.Context, repo *git.Repo, def *workflow.Definition, session name.Session) (string, error) {
	branch := "refs/heads/" + def.Branch(string(session))
	if _, err := repo.Output(ctx, "check-ref-format", branch); err != nil {
		return "", checkpoint.Usage("", "%q is not a valid branch name", name.Clip(branch, name.Said))
	}
	if repo.Head.OID == "" {
		return "", checkpoint.Failure(checkpoint.KindRefused, "", "there is no commit yet that a branch could start from")
	}
	if op := repo.Checkout.Operation(); op != "" {
		return "", checkpoint.Failure(checkpoint.KindRefused, "", "%s is in progress, so HEAD cannot switch to another branch", git.AnOperation(op))
	}
	oid, err := repo.Refs.Resolve(ctx, name.Ref(branch))
	// The usual case: the branch does not exist yet.
	switch {
	case errors.Is(err, git.ErrMissing):
	case err != nil:
		return "", err
	case oid != repo.Head.OID:
		return "", checkpoint.Failure(checkpoint.KindRefused, "switch to it, and start the session without --branch", "branch %s already exists, at another commit", strings.TrimPrefix(branch, "refs/heads/"))
	default:
		if err := checkpoint.BranchIsFree(ctx, repo, name.Ref(branch)); err != nil {
			return "", err
		}
	}
	if err := repo.Checkout.MoveHead(ctx, git.HeadMove{Branch: name.Ref(branch), To: repo.Head.OID, Old: oid, Reason: "session start " + string(session)}); err != nil {
		return "", err
	}
	// The service has read HEAD before. Keep it in step.
	repo.Head.Branch = name.Ref(branch)
	return branch, nil
}
