package retain

import (
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/storage/store"
)

// Own returns whether this person wrote an event, whose checkpoint may be pruned without being asked for: a
// worktree of this clone did, or somebody with the mail address of who works here.
func Own(s *store.Store) func(*journal.Event) bool {
	author, _ := s.Repo.Commits.Identity(s.Now())
	ids := checkpoint.OwnWorktrees(s)
	return func(e *journal.Event) bool {
		_, mail, _ := strings.Cut(strings.TrimSuffix(e.Actor, ">"), " <")
		return e.WorktreeID == "" || slices.Contains(ids, e.WorktreeID) || !strings.HasSuffix(journal.MergeIdentity, "<"+mail+">") && strings.EqualFold(mail, author.Email)
	}
}

// countForeign counts a checkpoint that somebody else made.
func (a *PruneAnswer) countForeign(by string) {
	a.Elsewhere++
	if i, known := slices.BinarySearch(a.By, by); !known {
		a.By = slices.Insert(a.By, i, by)
	}
}
