package checkpoint

import (
	"time"

	"git-checkpoint/internal/name"
)

// Assign is one PATH=VALUE of the command line.
type Assign struct{ Path, Value string }

// Output is one --output NAME=FILE; an empty File drops the output.
type Output struct{ Name, File string }

// CreateRequest is what `create` was asked for. Zero values mean "not given".
type CreateRequest struct {
	Message        string
	Session        string
	Step           *int
	Name           string
	Iteration      string
	Trigger        string
	Status         string
	State          []byte // a document that replaces the state
	Edited         []byte // the state after somebody edited it, instead of Set and Unset
	Set            []Assign
	Unset          []string
	Metrics        []Assign
	Outputs        []Output // File is relative to the working directory; "-" is not allowed
	Error          *string  // JSON or text; "" clears it
	IncludeIgnored []string // pathspecs of ignored files to capture
	Exclude        []string // pathspecs to leave out
	Tag            TagChoice
	Pin            PinChoice
	Unchanged      UnchangedChoice
	Size           SizeChoice
	DryRun         bool

	// Given by import only; zero: as they are now.
	At   time.Time
	Tree name.OID
	Head *name.OID
}

// TagChoice says whether a milestone gets its tag.
type TagChoice int

// The choices; the zero value follows checkpoint.tag.
const (
	TagConfigured TagChoice = iota
	TagNever
)

// PinChoice says whether a new checkpoint is pinned.
type PinChoice int

// The choices.
const (
	PinNo PinChoice = iota
	PinYes
)

// UnchangedChoice says what happens when nothing has changed since the current
// checkpoint.
type UnchangedChoice int

// The choices.
const (
	UnchangedCreate UnchangedChoice = iota
	UnchangedSkip                   // exit code 8
)

// SizeChoice says whether an unusually large first capture goes on.
type SizeChoice int

// The choices.
const (
	SizeGuarded SizeChoice = iota
	SizeLarge
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
	Where   string // an expression over the record
	Limit   int    // newest ones; 0: all
}

// DiffRequest names the two sides of `diff`; an empty B is the worktree now.
type DiffRequest struct {
	Session string
	A, B    string
	Paths   []string
}

// BranchChoice says what a rollback does to HEAD.
type BranchChoice int

// The choices; the zero value moves it only in a session that owns its branch.
const (
	BranchDefault BranchChoice = iota
	BranchMove
	BranchKeep
)

// Mode of a rollback: what it brings back.
type Mode string

// The modes.
const (
	ModeAll      Mode = "all"
	ModeWorktree Mode = "worktree" // leaves the index alone
	ModeState    Mode = "state"    // moves the current checkpoint, no files
	ModeProduced Mode = "produced" // only paths that changed between this session's checkpoints
)

// RollbackRequest is what `rollback` was asked for.
type RollbackRequest struct {
	Session          string
	Ref              string
	Branch           BranchChoice
	Mode             Mode // default ModeAll
	Paths            []string
	OverwriteIgnored bool
	Force            bool // go on during a merge or rebase, files only
	Reason           string
	DryRun           bool
}

// SessionRequest starts a session.
type SessionRequest struct {
	Name     string
	Workflow string
	Topic    string
	Branch   bool // make and switch to an own branch
	Fresh    bool // close an unfinished session of the same topic as abandoned
}

// InitRequest sets the repository up.
type InitRequest struct {
	ExcludeDecoration bool // set log.excludeDecoration too
	Hooks             bool // set up pre-push and post-merge too
}

// DeinitRequest takes configuration out; All also removes sessions, notes, tags.
type DeinitRequest struct{ All bool }
