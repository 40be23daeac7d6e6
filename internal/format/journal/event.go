// Package journal implements the journal of a session: a DAG of git commits, one per event (a
// checkpoint was created, a rollback happened, a checkpoint was pruned, ...), that several clones
// extend independently and merge.
//
// Parse and ParseCommit read an event from a commit, and Event.Message writes one. A Log holds the
// commits of a journal in memory. Log.Fold replays the events in one deterministic order and
// returns a State: which checkpoints exist, which are live, discarded, pinned or dead, and which is
// current. Merge joins the journals of two clones. RollbackPlan, PlanUndoOf and Walk
// compute what a rollback, undo or redo has to write. Log.Encode and Decode keep a parsed journal
// in a cache file.
//
// The package is pure: it reads no repository, starts no process and does not ask the clock. It
// rejects whatever it cannot verify, such as a malformed message, a missing parent or a cache with
// a flipped bit. docs/format.md specifies the messages and the fold. Start reading with Event, Log
// and State.
package journal

import (
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
)

// Format is the version of the message form that this package writes, and the newest that it
// understands.
const Format = 1

// Kind is the type of an event, the second word of its Checkpoint-Event trailer.
type Kind string

// The kinds of format 1. An event of any other kind keeps its place in the order but has no effect,
// and a journal that has one is read-only: this version cannot know what a new event would mean
// after it.
const (
	KindStart    Kind = "start"
	KindCreate   Kind = "create"
	KindAdopt    Kind = "adopt"
	KindRollback Kind = "rollback"
	KindUndo     Kind = "undo"
	KindResume   Kind = "resume"
	KindStatus   Kind = "status"
	KindPin      Kind = "pin"
	KindUnpin    Kind = "unpin"
	KindSkip     Kind = "skip"
	KindRebuild  Kind = "rebuild"
	KindPrune    Kind = "prune"
	KindArchive  Kind = "archive"
	KindImport   Kind = "import"
	KindClose    Kind = "close"
)

// Trailers of a start event that corrects the message of a checkpoint: its id and the new message. A program that does
// not know them sees a start that changes nothing.
const (
	TrailerDescribes = "Describes"
	TrailerMessage   = "Message"
)

// Described returns the checkpoint whose message the event corrects, and the new message; empty: none.
func (e *Event) Described() (id name.ID, message string) {
	if e.Kind != KindStart {
		return "", ""
	}
	return name.ID(e.Trailer(TrailerDescribes)), e.Trailer(TrailerMessage)
}

// Trailer returns the value of an extra trailer, "" if the event has none.
func (e *Event) Trailer(key string) string {
	for _, t := range e.Extra {
		if t.Key == key {
			return t.Value
		}
	}
	return ""
}

// TriggerSafety is the trigger of a safety checkpoint, which a rollback or undo makes of the
// present files before it changes any.
const TriggerSafety = "safety"

// triggerPromote is the trigger of a checkpoint that a promotion made, maybe of another line.
const triggerPromote = "promote"

// The triggers of checkpoints that an agent's hooks make before a prompt, at the end of a turn and after
// a tool.
const (
	TriggerPrompt = "prompt"
	TriggerTurn   = "turn"
	TriggerTool   = "tool"
	TriggerBefore = "before"
)

// Event is one entry of a journal. OID, Parents and Actor come from the commit, everything else
// from its message. An empty or zero member means that the message does not have that trailer.
type Event struct {
	OID     name.OID
	Parents []name.OID // parents of the commit; some of them may be merges

	Format  int // 0 means Format
	Kind    Kind
	Session name.Session
	Time    time.Time // UTC, to the millisecond
	Actor   string    // "Name <email>"

	Worktree   string // for display only: the main worktree of every clone has the same name
	WorktreeID string // random; undo and the retention of safety checkpoints identify a worktree by it

	// The checkpoint that the event is about, with the members of its record that lists need.
	Checkpoint       name.ID
	Label            string
	Step             int
	StepName         string
	Iteration        string
	Milestone        bool
	Trigger          string
	CheckpointStatus string
	Commit           name.OID
	Record           string // the checksum of the checkpoint's record, "sha256:" and 64 hex digits
	// Previous is the checkpoint that was current when this one was made. It is not its parent
	// commit.
	Previous name.ID
	// RebuiltFrom is the checkpoint that a rebuild replaces: a damaged one, or one that was
	// expunged.
	RebuiltFrom name.ID

	// Rollback and undo. From was current before and To is current afterwards; an undo without To
	// leaves no checkpoint current.
	From, To           name.ID
	FromLabel, ToLabel string
	Safety             name.ID // the safety checkpoint that holds the files as they were before this event
	// Files is the checkpoint that the files were taken from, where that is not To: a safety checkpoint,
	// or the source of some paths; see Stays.
	Files name.ID
	Mode  string
	// Discard and Restore list the checkpoints that the event makes discarded or live. The fold
	// ignores ids that the event's writer cannot have known.
	Discard, Restore []name.ID
	// Undoes is the commit of the rollback or undo that an undo takes back. A redo is an undo of an
	// undo.
	Undoes name.OID

	Tombstones []Tombstone // lists what a prune removed

	Status                  string
	Workflow, Topic, Branch string
	Reason                  string

	Extra []Trailer // holds the trailers that this version does not know, in their original order
}

// Tombstone is one checkpoint in a prune event. Commit and Record are empty where the writer did
// not know them.
type Tombstone struct {
	ID     name.ID
	Commit name.OID
	Record string
	Reason string
}

// Trailer is one "Key: value" line of a message. Value is unquoted.
type Trailer struct {
	Key, Value string
}

// known reports whether this version knows both the format and the kind of e.
func (e *Event) known() bool {
	if e.Format > Format {
		return false
	}
	switch e.Kind {
	case KindStart, KindCreate, KindAdopt, KindRollback, KindUndo, KindResume, KindStatus,
		KindPin, KindUnpin, KindSkip, KindRebuild, KindPrune, KindArchive, KindImport, KindClose:
		return true
	}
	return false
}

// names reports whether e introduces its checkpoint: a create, an adopt, or a rebuild with
// RebuiltFrom. A rebuild without it only records that notes or tags were written again.
func (e *Event) names() bool {
	if e.Format > Format || e.Checkpoint == "" {
		return false
	}
	return e.Kind == KindCreate || e.Kind == KindAdopt || e.Kind == KindRebuild && e.RebuiltFrom != ""
}

// ModePaths is the mode of a rollback that brings back some paths.
const ModePaths = "paths"

// Stays reports whether e brought back some paths and nothing else, or is an undo or a redo of that: the
// session stays where it is. Earlier versions went to the checkpoint instead, and such an event of theirs
// has another To than From, or no Files.
func (e *Event) Stays() bool {
	return e.moves() && e.Mode == ModePaths && e.From == e.To && (e.Files != "" || e.Kind == KindUndo)
}

// Writer returns the name of who wrote the event.
func (e *Event) Writer() string {
	by, _, _ := strings.Cut(e.Actor, " <")
	return by
}

// moves reports whether e is a rollback or an undo.
func (e *Event) moves() bool {
	return e.Format <= Format && (e.Kind == KindRollback || e.Kind == KindUndo)
}
