package rollback

import "git-checkpoint/internal/core/checkpoint"

// BranchChoice says whether a rollback moves HEAD and its branch to the commit that the checkpoint
// recorded.
type BranchChoice int

// The values of BranchChoice. The zero value moves HEAD only in a session that owns its branch.
const (
	BranchDefault BranchChoice = iota
	BranchMove                 // --branch
	BranchKeep                 // --keep-branch
)

// Mode says what a rollback restores. Events store it, and an undo of the event follows it.
type Mode string

// The modes. An event may also have ModePromote or ModeLand.
const (
	ModeAll      Mode = "all"      // files, index and the current checkpoint
	ModeWorktree Mode = "worktree" // like ModeAll, but leaves the index alone
	ModeState    Mode = "state"    // only the current checkpoint, no files
	ModePaths    Mode = "paths"    // ModeAll limited to some paths; Prepare sets it
	ModeProduced Mode = "produced" // only paths that changed between checkpoints of this session
)

// ModePromote is the mode in the event of a promotion or a revert. An undo of it restores everything, like
// ModeAll.
const ModePromote Mode = "promote"

// ModeLand is the mode in the event of a landing, which turns checkpoints into commits on the
// branch. It writes no file, so an undo of it leaves the files as they are, with what was edited
// since, and restores the index, HEAD and the branch.
const ModeLand Mode = checkpoint.ModeLand

// Request is the input of Prepare.
type Request struct {
	Session          string // as for checkpoint.Service.Resolve
	Ref              string // the checkpoint, as the user typed it
	Branch           BranchChoice
	Mode             Mode     // "" is ModeAll
	Paths            []string // only these paths, and nothing else; none: all
	WithState        bool     // with Paths: the checkpoint becomes the current one, too
	OverwriteIgnored bool     // capture ignored files that are in the way, and replace them
	ExactIndex       bool     // restore the index as it was recorded, whatever HEAD is
	Force            bool     // go on during a merge or rebase, with files only
	Reason           string   // the user's reason, for the journal
	DryRun           bool     // only plan
	Chat             bool     // a new conversation with the agent goes on from there, too
}

// UndoRequest is the input of PrepareUndo.
type UndoRequest struct {
	Redo   bool   // redo instead of undo
	Levels int    // how many levels; 0 means 1
	To     string // an event or a checkpoint: undo everything back to the level that it names
	Force  bool   // take commits off the branch that were made since
	DryRun bool   // only plan

	OverwriteIgnored bool // capture ignored files that are in the way, and replace them
}
