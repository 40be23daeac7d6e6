package rollback

// This file moves HEAD and the branch under it, and moves them back. Each move names the value that
// it replaces, so a commit that somebody makes meanwhile is never dropped.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// changedSince returns the error of a plan that is out of date.
func changedSince(what string) error {
	return checkpoint.Failure(checkpoint.KindRefused, "nothing was changed; run the command again to see the new plan", "%s since the plan was shown", what)
}

// sameHead returns an error if HEAD, or the branch that is to move, is no longer where the plan
// found it. What it points to by now is in no safety checkpoint.
func (r *Plan) sameHead(ctx context.Context) error {
	if !headStays(ctx, r.s.Repo) {
		return changedSince("HEAD has moved")
	}
	b := r.branch
	if b.Moved && b.Target != "" && refNow(ctx, r.s.Repo, b.Target) != b.was {
		return changedSince(fmt.Sprintf("branch %s has moved", b.Target.Short()))
	}
	return nil
}

// headStays reports whether HEAD is still where it was when the repository was opened. In most
// repositories it starts no process.
func headStays(ctx context.Context, repo *git.Repo) bool {
	was := repo.Head
	text, err := os.ReadFile(filepath.Join(repo.GitDir, "HEAD"))
	switch content := strings.TrimSuffix(string(text), "\n"); {
	case err != nil:
	case was.Branch == "" && content == string(was.OID):
		return true
	case was.Branch != "" && content == "ref: "+string(was.Branch):
		if now, err := repo.Refs.Resolve(ctx, was.Branch); err == nil && now == was.OID || errors.Is(err, git.ErrMissing) && was.OID == "" {
			return true
		}
	}
	return repo.Checkout.HeadNow(ctx) == was
}

// refNow returns the commit that a ref is at, or "" if there is no such ref.
func refNow(ctx context.Context, repo *git.Repo, ref name.Ref) name.OID {
	now, err := repo.Output(ctx, "rev-parse", "-q", "--verify", string(ref))
	if err != nil {
		return ""
	}
	return name.OID(now)
}

// moved returns the ref that a rollback moves, and where it was before: a branch, or HEAD itself when
// it is detached.
func moved(meta checkpoint.Intent) (ref name.Ref, old name.OID) {
	if meta.Branch.Target == "" {
		return "HEAD", meta.OldHead
	}
	return meta.Branch.Target, meta.TargetOld
}

// moveHead moves the branch and puts HEAD on it. It fails if the branch is neither where the plan
// found it nor, with --continue, where the rollback has put it already.
func moveHead(ctx context.Context, repo *git.Repo, meta checkpoint.Intent) error {
	ref, old := moved(meta)
	if refNow(ctx, repo, ref) == meta.Branch.To {
		old = meta.Branch.To
	}
	return repo.Checkout.MoveHead(ctx, git.HeadMove{Branch: meta.Branch.Target, To: meta.Branch.To, Old: old, Reason: meta.Reason})
}

// backReason is the line in the reflogs of what headBack moves.
const backReason = "checkpoint: rollback taken back"

// headBack moves HEAD, and the branches that the rollback moved, back to where they were. What
// somebody else has moved since stays, with a warning.
func headBack(ctx context.Context, s *store.Store, meta checkpoint.Intent) error {
	var err error
	if meta.Branch.Moved {
		// HEAD leaves the branch first, because the branch may have to go.
		err = errors.Join(switchBack(ctx, s, meta), targetBack(ctx, s, meta))
	}
	if b := meta.Branch.Back; b != nil {
		moveAside(ctx, s.Repo, b.Name, b.To, b.From) //nolint:errcheck // whoever moved it since had a reason
	}
	return err
}

// switchBack puts HEAD on the branch that it was on, or detaches it where it was detached. The
// branches themselves do not move.
func switchBack(ctx context.Context, s *store.Store, meta checkpoint.Intent) error {
	now, target := s.Repo.Checkout.HeadNow(ctx), meta.Branch.Target
	detached := now.Branch == "" && target == "" && now.OID == meta.Branch.To
	switch {
	case now.Branch == meta.OldBranch && (now.Branch != "" || now.OID == meta.OldHead):
		return nil
	case !detached && (target == "" || now.Branch != target):
		s.Warn("HEAD stays where it is: it has moved since")
		return nil
	}
	args := []string{"symbolic-ref", "-m", backReason, "HEAD", string(meta.OldBranch)}
	if meta.OldBranch == "" {
		args = []string{"update-ref", "--no-deref", "-m", backReason, "HEAD", string(meta.OldHead), string(now.OID)}
	}
	_, err := s.Repo.Output(ctx, args...)
	return err
}

// targetBack moves the branch of the rollback back, and deletes one that the rollback made.
func targetBack(ctx context.Context, s *store.Store, meta checkpoint.Intent) error {
	branch, to := meta.Branch.Target, meta.Branch.To
	if branch == "" {
		return nil
	}
	switch now := refNow(ctx, s.Repo, branch); {
	case now == meta.TargetOld:
		return nil
	case now != to:
		s.Warn(fmt.Sprintf("branch %s stays where it is: it has moved since", branch.Short()))
		return nil
	}
	args := []string{"update-ref", "-m", backReason, string(branch), string(meta.TargetOld), string(to)}
	if meta.TargetOld == "" {
		args = []string{"update-ref", "-m", backReason, "-d", string(branch), string(to)}
	}
	_, err := s.Repo.Output(ctx, args...)
	return err
}
