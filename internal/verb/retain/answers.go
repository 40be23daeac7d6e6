package retain

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
)

// Marked is a checkpoint that was pinned or unpinned.
type Marked struct {
	checkpoint.Labelled
	Session name.Session `json:"session"`
	Pinned  bool         `json:"pinned"`
	Changed bool         `json:"changed"` // false: it was already so
}

// Removed is what `delete` and `session delete` print.
type Removed struct {
	Removed []checkpoint.Labelled `json:"removed"`
	Bytes   int64                 `json:"bytes"` // size on disk of the objects that nothing else holds

	session name.Session
	whole   bool // all of the session, pinned ones too
}

// Apply removes for good what was planned: refs, notes and tags. A tombstone of each stays in the journal, so
// that other clones learn of it. The answer lacks what another process removed meanwhile.
func (r *Removed) Apply(ctx context.Context, s *checkpoint.Service) (*Removed, error) {
	reason, pinned := "deleted", pinnedRefuses
	if r.whole {
		reason, pinned = "session deleted", PinnedGoes
	}
	gone, err := Drop(ctx, s, r.session, gather.List(r.Removed, func(l checkpoint.Labelled) name.ID { return l.ID }), reason, pinned)
	if err != nil {
		return nil, err
	}
	done := *r
	done.Removed = slices.DeleteFunc(slices.Clone(r.Removed), func(l checkpoint.Labelled) bool { return !gone[l.ID] })
	switch {
	case r.whole:
		return &done, checkpoint.Deactivate(s.Store, r.session)
	case len(done.Removed) == 0:
		named := gather.List(r.Removed, func(l checkpoint.Labelled) string { return l.Mention.Name })
		return nil, checkpoint.Failure(checkpoint.KindNotFound, "", "%s: removed in the meantime", strings.Join(named, ", "))
	}
	return &done, nil
}
