package setup

import "git-checkpoint/internal/checkpoint"

// InitRequest holds the options of `init`.
type InitRequest struct {
	ExcludeDecoration bool // set log.excludeDecoration
	Hooks             bool // install pre-push and post-merge
	// To set in the repository's configuration.
	Settings []checkpoint.Setting
}

// DeinitRequest holds the options of `deinit`. All also removes sessions, notes and tags.
type DeinitRequest struct{ All bool }
