package inspect

// The types in this file are the inputs of List and Diff.

import (
	"time"

	"git-checkpoint/internal/journal"
)

// Hidden says what to do with safety and discarded checkpoints. An expression or a trigger that
// asks for them explicitly always gets them.
type Hidden int

// HiddenUnlessWhere lists them, but leaves them out if there is an expression. HiddenCounted only
// counts them. HiddenShown lists them.
const (
	HiddenUnlessWhere Hidden = iota
	HiddenCounted
	HiddenShown
)

// ListRequest is the input of List. Zero values mean: no filter.
type ListRequest struct {
	Session string
	All     bool   // list every session
	Type    string // prefix of the session's name or of its type of work
	Trigger string
	Status  string
	Step    *int
	Since   time.Time
	Where   string // a condition on the record and the line of the list
	Hidden  Hidden
	Limit   int // only the newest so many; 0: all
}

// DiffRequest is the input of Diff. An empty B is the worktree.
type DiffRequest struct {
	Session string
	A, B    string
	Paths   []string // compare only these files and directories; none: all
}

// mayShow applies those filters that the journal alone can answer to the checkpoint at a place.
func (req ListRequest) mayShow(st *journal.State, place int, c journal.Standing) bool {
	return (req.Step == nil || c.Step == *req.Step) && (req.Trigger == "" || st.At(place).Event().Trigger == req.Trigger) &&
		(req.Status == "" || st.At(place).Event().CheckpointStatus == req.Status)
}
