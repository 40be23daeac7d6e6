package store

import (
	"context"
	"fmt"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// Regenerate writes lost commits of a journal again, from what the cached journal l has of them. It
// returns the ids that it has written. A commit is written only if it gets the same id as before.
// That fails for a signed event and for one that another program has written in another form.
func (s *journals) Regenerate(ctx context.Context, l *journal.Log, lost map[name.OID]bool) ([]name.OID, error) {
	var made []name.OID
	for _, n := range l.Nodes() {
		if !lost[n.OID] {
			continue
		}
		// An event has one form. Otherwise the commit is a merge, which has a fixed form, too.
		c := mergeCommit(&journal.MergeCommit{Parents: n.Parents, When: n.CommitterTime})
		if n.Event != nil {
			c = eventCommit(n.Event)
		}
		c.Tree = git.HashObject(s.repo.Format, "tree", nil)
		data := c.Encode()
		// The commit had another form, for example a signature. It cannot be made again.
		if git.HashObject(s.repo.Format, "commit", data) != n.OID {
			continue
		}
		if _, err := s.repo.Objects.Write(ctx, "tree", nil); err != nil {
			return made, fmt.Errorf("write the journal again: %w", err)
		}
		if _, err := s.repo.Objects.Write(ctx, "commit", data); err != nil {
			return made, fmt.Errorf("write the journal again: %w", err)
		}
		made = append(made, n.OID)
	}
	return made, nil
}

// TrackedJournals returns the tips of a session's journal at all remotes, as they were last seen.
func (s *journals) TrackedJournals(ctx context.Context, session name.Session) ([]name.OID, error) {
	refs, err := s.repo.Refs.List(ctx, name.TrackingRoot+"*/"+string(session)+"/journal")
	return gather.List(refs, func(r git.RefValue) name.OID { return r.OID }), err
}
