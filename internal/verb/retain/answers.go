package retain

import (
	"context"
	"slices"

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
}

// drop removes what was planned. It leaves out of r what this process did not remove, because
// another one was faster.
func (r *Removed) drop(ctx context.Context, s *checkpoint.Service, reason string, pinned pinnedRule) error {
	ids := gather.List(r.Removed, func(l checkpoint.Labelled) name.ID { return l.ID })
	gone, err := Drop(ctx, s, r.session, ids, reason, pinned)
	r.Removed = slices.DeleteFunc(r.Removed, func(l checkpoint.Labelled) bool { return !gone[l.ID] })
	return err
}
