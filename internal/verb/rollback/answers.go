package rollback

import (
	"encoding/json"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/threeway"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/continuation"
	"git-checkpoint/internal/verb/inspect"
)

// PlanFiles lists what a rollback changes in the worktree. All paths are sorted and relative to its
// top.
type PlanFiles struct {
	Write   []checkpoint.Path `json:"write"`   // created, or their content is replaced
	Delete  []checkpoint.Path `json:"delete"`  // removed
	Mode    []checkpoint.Path `json:"mode"`    // only the executable bit changes
	Risk    []Risk            `json:"risk"`    // what cannot be restored exactly, and files that other programs run commands from
	Discard []string          `json:"discard"` // labels (or ids) of the checkpoints that are discarded
	Skipped []checkpoint.Path `json:"skipped"` // left alone, because a rule kept them out of captures
	Unsaved []checkpoint.Path `json:"unsaved"` // of write and delete: their present content is in no checkpoint and no commit

	Unignored []snapshot.Unignored `json:"no_longer_ignored,omitempty"` // ignored now, and not afterwards
}

// Risk names a path and what about it is not restored.
type Risk struct {
	Path   checkpoint.Path `json:"path"`
	Reason string          `json:"reason"`
}

// ModeAbort is the mode in the answer of Abort.
const ModeAbort Mode = "abort"

// Answer is what the commands that move files print, before and after Apply: what all of them have, and after that the
// parts of some. The JSON members are a contract: see docs/json.md.
type Answer struct {
	Session  name.Session          `json:"session"`
	From     name.ID               `json:"from"` // the current checkpoint before; empty: none
	To       name.ID               `json:"to"`   // the current checkpoint afterwards; empty: none
	ToLabel  string                `json:"to_label"`
	Safety   name.ID               `json:"safety"` // the safety checkpoint; empty before Apply
	DryRun   bool                  `json:"dry_run"`
	Digest   string                `json:"digest,omitempty"` // of the plan, for --plan; see Fingerprint
	Mode     Mode                  `json:"mode"`             // also ModeAbort
	Plan     PlanFiles             `json:"plan"`
	Branch   checkpoint.BranchPlan `json:"branch"`
	Index    *IndexPlan            `json:"index,omitempty"` // nil: it is as in the checkpoint, or out of scope
	State    json.RawMessage       `json:"state"`           // the job's state afterwards
	Pending  json.RawMessage       `json:"pending"`         // what the workflow says is still to do
	NextStep *NextStep             `json:"next_step"`       // nil: there is none
	Warnings []string              `json:"warnings,omitempty"`

	Origin
	Walked
	Beside
	*Reverted
	Mentioned `json:"-"`
}

// Origin says where the files come from, if not from the checkpoint To.
type Origin struct {
	Promotes *Promoted `json:"promotes,omitempty"` // of promote
	// A safety checkpoint, which cannot become current, or the source of some paths.
	FilesFrom *checkpoint.Labelled `json:"files_from,omitempty"`
}

// Promoted identifies what is promoted.
type Promoted struct {
	Attempt string       `json:"attempt"` // name of the attempt
	Session name.Session `json:"session"`
	ID      name.ID      `json:"id"`
	Label   string       `json:"label"`

	Mention checkpoint.Mention `json:"-"`
}

// Walked is the part of undo and redo, with the next of each after this is done.
type Walked struct {
	Levels    []UndoLevel `json:"levels,omitempty"`    // what is undone, in this order
	Meanwhile []Meanwhile `json:"meanwhile,omitempty"` // what other worktrees did since then
	NextUndo  *UndoLevel  `json:"next_undo,omitempty"`
	NextRedo  *UndoLevel  `json:"next_redo,omitempty"`

	Command    string `json:"-"` // undo or redo; empty: neither
	SavedSince string `json:"-"` // says how to remove what was saved after the last rollback; empty: nothing was
}

// Beside is what comes back besides, or does not.
type Beside struct {
	// The checkpoint was made on a different branch from the one that HEAD is on afterwards.
	Elsewhere string `json:"elsewhere,omitempty"`
	// What the checkpoint left out, and nested repositories that have changed since.
	NotBroughtBack []inspect.LeftOut `json:"not_brought_back,omitempty"`

	// Files of the plan that have changed since it was shown. The safety checkpoint has their content.
	ChangedSince []checkpoint.Path `json:"changed_since,omitempty"`
	// Work of others that is taken back too, and how to name the target for a revert that keeps it.
	Others  []Others `json:"others,omitempty"`
	Keep    string   `json:"-"`
	Prompts int      `json:"prompts,omitempty"` // how many steps of an agent's prompts are discarded

	Chat   *continuation.Answer `json:"chat,omitempty"` // how the conversation with an agent goes on
	ChatOf string               `json:"-"`              // the agent whose conversation --chat would take back, too
}

// Mentioned is what people see, or what says it to them.
type Mentioned struct {
	Target checkpoint.Mention                    // the checkpoint that becomes current; its Name is empty if none does
	Source checkpoint.Mention                    // the checkpoint whose files come back
	Leaves []checkpoint.Mention                  // those that are left behind, in the order of PlanFiles.Discard, the first with their messages
	Lines  map[checkpoint.Path]inspect.FileCount // says by path how many lines change; nil: they were not counted

	Created *checkpoint.Detail // the checkpoint on top that was made; nil: none
	Stays   bool               // only some paths come back; the session stays where it is
	Empty   bool               // nothing to do: everything is as in the target
	Said    string             // the workflow's words; empty: the usual ones
}

// Reverted says what a revert takes back.
type Reverted struct {
	By         string          `json:"-"` // whose work alone is taken back; empty: that of the steps
	Unsure     int             `json:"-"` // counts the changes that are not taken back and may be theirs
	Steps      []RevertedStep  `json:"steps"`
	Files      []RevertedFile  `json:"files"`
	Left       []LeftOfStep    `json:"left"`
	Checkpoint json.RawMessage `json:"checkpoint"` // null in a plan. When it is made, package answer writes it
	// StateConflicts are the members of the state that changed since in another way.
	StateConflicts []string `json:"state_conflicts,omitempty"`
}

// RevertedStep is a checkpoint whose difference is taken back.
type RevertedStep struct {
	Session name.Session `json:"session"`
	Step    int          `json:"step"`
	ID      name.ID      `json:"id"`
	Label   string       `json:"label"`
	Moved   bool         `json:"head_moved,omitempty"` // HEAD moved during it; commits stay

	Mention checkpoint.Mention `json:"-"`
	Turn    checkpoint.Mention `json:"-"` // the step of the prompt, if a tool made it; else the same
	Spent   bool               `json:"-"` // nothing of it is left to take back
}

// ConflictsHint is what a refusal because of lines offers.
const ConflictsHint = "--conflicts writes both versions into the files, with conflict markers"

// RevertedFile is a file that the steps changed.
type RevertedFile struct {
	Path   checkpoint.Path `json:"path"`
	How    threeway.How    `json:"how"`
	With   []string        `json:"with"`             // who changed it since: a session, "outside" or "unknown"
	During bool            `json:"during,omitempty"` // a command of the agent changed it, or a program beside that
	Why    string          `json:"why,omitempty"`    // of a conflict
	Marked bool            `json:"marked,omitempty"` // a conflict that gets conflict markers
}

// LeftOfStep is a file that changed during a step but is not the step's own work, so it stays as it
// is.
type LeftOfStep struct {
	Path checkpoint.Path `json:"path"`
	By   string          `json:"by"` // as in RevertedFile.With
}

// UndoLevel is a rollback that an undo takes back or a redo repeats. See "Levels" in
// docs/format.md.
type UndoLevel struct {
	List      string          `json:"list"`  // undo or redo
	N         int             `json:"n"`     // `undo N` or `redo N` goes up to this one
	Event     name.OID        `json:"event"` // the id of the level's head
	Time      checkpoint.Time `json:"time"`
	Session   name.Session    `json:"session"`
	What      string          `json:"what"` // the rollback, as one sentence
	Reason    string          `json:"reason"`
	To        name.ID         `json:"to"` // the current checkpoint after the undo
	ToLabel   string          `json:"to_label"`
	Safety    name.ID         `json:"safety"`    // the checkpoint whose files are restored
	Available bool            `json:"available"` // false: that checkpoint was pruned
	Landing   bool            `json:"-"`         // it made commits, and moved no file
	Stays     bool            `json:"-"`         // the current step was not another one afterwards

	// For people, with the messages: the rollback, and the checkpoint To.
	Said string             `json:"-"`
	Goes checkpoint.Mention `json:"-"`

	Files *int `json:"files,omitempty"` // for --list: how many files the rollback changed; nil: not known
}

// Meanwhile is an event of another worktree in the session, after the event that is to be undone.
type Meanwhile struct {
	Event    name.OID        `json:"event"`
	Worktree string          `json:"worktree"`
	Time     checkpoint.Time `json:"time"`
	What     string          `json:"what"`
	Said     string          `json:"-"` // What, in words for people
}

// NextStep is the workflow's step that follows the current one.
type NextStep struct {
	Step int    `json:"step"`
	Name string `json:"name"`
}
