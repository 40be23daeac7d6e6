package retain_test

import (
	"context"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/retain"
)

// Automatic retention takes what this person made on any machine, and what was made or imported in this clone.
// What a colleague made takes a prune that somebody types.
func TestOwn(t *testing.T) {
	w := verbtest.New(t)
	w.Save("one")
	w.Must(func(_ context.Context, s *checkpoint.Service) error {
		id, err := s.Store.WorktreeID()
		author, _ := s.Repo.Commits.Identity(s.Store.Now())
		own := retain.Own(s.Store)
		const elsewhere = "0123456789abcdef0123456789abcdef"
		for want, all := range map[bool][]journal.Event{
			true:  {{Actor: "Ben <ben@example.com>", WorktreeID: id}, {Actor: "Me <" + author.Email + ">", WorktreeID: elsewhere}, {Actor: "Ben <ben@example.com>"}},
			false: {{Actor: "Ben <ben@example.com>", WorktreeID: elsewhere}, {Actor: "x <git-checkpoint@localhost>", WorktreeID: elsewhere}},
		} {
			for _, e := range all {
				if own(&e) != want {
					t.Errorf("%s in %q: own is %v", e.Actor, e.WorktreeID, !want)
				}
			}
		}
		return err
	})
}
