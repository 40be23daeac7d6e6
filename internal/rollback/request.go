package rollback

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

// Request is what `rollback` was asked for.
type Request struct {
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

// UndoRequest is what `undo` or `redo` was asked for.
type UndoRequest struct {
	Redo   bool
	Levels int    // how many; 0 is one
	To     string // an event or a checkpoint: go to before that one
	DryRun bool
}
