package inspect

import (
	"time"

	"git-checkpoint/internal/journal"
)

// Hidden says what becomes of safety and discarded checkpoints. An expression or a trigger
// that asks for them gets them in any case.
type Hidden int

// By itself a list has them, and an expression leaves them out. People get a count of them.
const (
	HiddenUnlessWhere Hidden = iota
	HiddenCounted
	HiddenShown
)

// ListRequest filters `list`.
type ListRequest struct {
	Session string
	All     bool // every session
	Type    string
	Trigger string
	Status  string
	Step    *int
	Since   time.Time
	Where   string // an expression over the record and the line of the list
	Hidden  Hidden
	Limit   int // newest ones; 0: all
}

// DiffRequest names the two sides of `diff`; an empty B is the worktree now.
type DiffRequest struct {
	Session string
	A, B    string
	Paths   []string
}

// mayShow applies those filters of `list` that ask for what the journal says.
func (req ListRequest) mayShow(e *journal.Entry) bool {
	return (req.Trigger == "" || e.Event().Trigger == req.Trigger) && (req.Status == "" || e.Event().CheckpointStatus == req.Status) && (req.Step == nil || e.Step == *req.Step)
}
