package checkpoint

import (
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
)

// Elsewhere says that a checkpoint was made on a different branch from the one that HEAD is on:
// "made on feat; you are on other". It is empty if it was made on this one, or if its branch is not
// known.
func Elsewhere(s *Service, r *record.Record) string {
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
