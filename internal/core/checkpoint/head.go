package checkpoint

import (
	"context"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// After a power loss, the ref of the branch may hold no id, or name a commit that is not there.

const damagedHint = "`git checkpoint doctor` says how to put it back"

// RefuseDamagedHead returns an error if the ref of HEAD's branch is damaged. A checkpoint made now
// would say that there was no commit yet.
func RefuseDamagedHead(repo *git.Repo) error {
	if !repo.Head.Damaged {
		return nil
	}
	return Failure(KindInvalid, damagedHint, "%s is damaged: it holds no commit id", repo.Head.Branch)
}

// LastCommit returns the newest commit that a checkpoint was made at and that git can read, and the
// label of that checkpoint. A commit of HEAD's branch is preferred. The id is empty if there is none.
func LastCommit(ctx context.Context, s *store.Store) (commit name.OID, label string, err error) {
	states, err := States(ctx, s, "")
	if err != nil {
		return "", "", err
	}
	same := false // commit is of HEAD's branch
	var at Time
	for _, st := range states {
		for i, standing := range st.Backward() {
			if standing.Dead {
				continue
			}
			rec, err := ReadRecord(ctx, s, st.Read(i))
			if err != nil || rec.Git.Head == "" {
				continue
			}
			ours := name.Ref(rec.Git.Branch) == s.Repo.Head.Branch
			if same && !ours || same == ours && !rec.CreatedAt.After(at.Time) {
				continue
			}
			if _, err := s.Repo.Commits.TreeOf(ctx, rec.Git.Head); err != nil {
				continue
			}
			commit, label, same, at = rec.Git.Head, string(st.Session)+":"+CalledOf(rec), ours, Time{Time: rec.CreatedAt}
		}
	}
	return commit, label, ctx.Err()
}

// OtherBranch says that a checkpoint was made on a different branch from the one that HEAD is on:
// "made on feat; you are on other". It is empty if it was made on this one, or if its branch is not
// known.
func OtherBranch(repo *git.Repo, r *record.Record) string {
	made, now := name.Ref(r.Git.Branch), repo.Head.Branch
	if made == now || made == "" && !r.Git.Detached {
		return ""
	}
	return "made on " + PlaceName(made) + "; you are on " + PlaceName(now)
}

// PlaceName returns the short name of a branch, or the words for a detached HEAD.
func PlaceName(branch name.Ref) string {
	if branch == "" {
		return "a detached HEAD"
	}
	return branch.Short()
}

// SwitchTo returns the command that puts HEAD on a branch: one that exists here and is free, or that
// git makes because exactly one remote has it. It is empty if there is none.
func SwitchTo(ctx context.Context, repo *git.Repo, branch name.Ref) string {
	if !strings.HasPrefix(string(branch), "refs/heads/") || BranchIsFree(ctx, repo, branch) != nil {
		return ""
	}
	command := "git switch " + name.Quoted(branch.Short())
	if _, err := repo.Refs.Resolve(ctx, branch); err == nil {
		return command
	}
	if guess, err := repo.Config.Bool("checkout.guess", true); err != nil || !guess {
		return ""
	}
	refs, err := repo.Refs.List(ctx, "refs/remotes/")
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

// BranchIsFree returns an error if another worktree has the branch checked out. git forbids this
// too: the other worktree's files would no longer match its HEAD.
func BranchIsFree(ctx context.Context, repo *git.Repo, branch name.Ref) error {
	list, err := repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, w := range list {
		if branch != "" && w.Branch == branch && w.GitDir != repo.GitDir {
			return Failure(KindRefused, "--keep-branch restores only files and index", "branch %s is checked out in worktree %s", branch, w.Name)
		}
	}
	return nil
}
