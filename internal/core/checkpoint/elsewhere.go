package checkpoint

import (
	"context"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
)

// OtherBranch says that a checkpoint was made on a different branch from the one that HEAD is on:
// "made on feat; you are on other". It is empty if it was made on this one, or if its branch is not
// known.
func OtherBranch(s *Service, r *record.Record) string {
	made, now := name.Ref(r.Git.Branch), s.Repo.Head.Branch
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
func (s *Service) SwitchTo(ctx context.Context, branch name.Ref) string {
	if !strings.HasPrefix(string(branch), "refs/heads/") || BranchIsFree(ctx, s, branch) != nil {
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

// BranchIsFree returns an error if another worktree has the branch checked out. git forbids this
// too: the other worktree's files would no longer match its HEAD.
func BranchIsFree(ctx context.Context, s *Service, branch name.Ref) error {
	list, err := s.Repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, w := range list {
		if branch != "" && w.Branch == branch && w.GitDir != s.Repo.GitDir {
			return Failure(KindRefused, "--keep-branch restores only files and index", "branch %s is checked out in worktree %s", branch, w.Name)
		}
	}
	return nil
}
