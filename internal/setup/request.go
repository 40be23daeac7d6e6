package setup

import "git-checkpoint/internal/checkpoint"

// InitRequest sets the repository up.
type InitRequest struct {
	ExcludeDecoration bool                 // set log.excludeDecoration too
	Hooks             bool                 // set up pre-push and post-merge too
	Settings          []checkpoint.Setting // to set in the repository's configuration
}

// DeinitRequest takes configuration out; All also removes sessions, notes, tags.
type DeinitRequest struct{ All bool }
