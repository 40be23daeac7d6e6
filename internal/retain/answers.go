package retain

import (
	"slices"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
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
}

// only leaves out what this process did not remove, because another one was faster.
func (r *Removed) only(gone map[name.ID]bool) {
	r.Removed = slices.DeleteFunc(r.Removed, func(l checkpoint.Labelled) bool { return !gone[l.ID] })
}
