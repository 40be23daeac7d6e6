// Package journal owns the events of a session's journal: their form as git commit
// messages, the order and the fold over the DAG that clones make of them, the merge
// of two journals, the plans of rollback and undo, and the cache of a journal that
// was read once. It is pure: it reads no repository, starts no process and asks no
// clock. It refuses what it cannot prove: a message that is not exactly an event, a
// journal with a hole, a cache with a flipped bit.
package journal

import (
	"time"

	"git-checkpoint/internal/name"
)

// Format is the version of the message form that this package writes.
const Format = 1

// Kind says what an event is about.
type Kind string

// The kinds of format 1. Any other kind is read past, and nothing is written on
// top of it.
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

// kindMerge marks the commit that joins two journals; it is no event.
const kindMerge Kind = "merge"

// TriggerSafety is the trigger of the checkpoint that a rollback makes first.
const TriggerSafety = "safety"

// Event is one entry of a journal. OID, Parents and Actor come from the commit,
// everything else from its message.
type Event struct {
	OID     name.OID
	Parents []name.OID // as the commit has them, merges included

	Format  int // 0 means Format
	Kind    Kind
	Session name.Session
	Time    time.Time // UTC, to the millisecond
	Actor   string    // "Name <email>"

	Worktree   string // for people: every clone's main worktree has the same name
	WorktreeID string // random; undo and the retention of safety checkpoints go by it

	// The checkpoint that the event is about.
	Checkpoint       name.ID
	Label            string
	Step             int
	StepName         string
	Iteration        string
	Milestone        bool
	Trigger          string
	CheckpointStatus string
	Commit           name.OID
	Record           string // checksum of the record, "sha256:…"
	Previous         name.ID
	RebuiltFrom      name.ID

	// Rollback and undo.
	From, To           name.ID
	FromLabel, ToLabel string
	Safety             name.ID
	Files              name.ID // of a rollback to a safety checkpoint: that one, whose files came
	Mode               string
	Discard, Restore   []name.ID
	Undoes             name.OID

	Tombstones []Tombstone

	Status                  string
	Workflow, Topic, Branch string
	Reason                  string

	Extra []Trailer // what this version does not know, in the order it came
}

// Tombstone says that a prune dropped a checkpoint, and what it was.
type Tombstone struct {
	ID     name.ID
	Commit name.OID
	Record string
	Reason string
}

// Trailer is one "Key: value" line of a message.
type Trailer struct {
	Key, Value string
}

// known reports whether this version may interpret e.
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

// names reports whether e makes its checkpoint known: a create, an adopt, or a
// rebuild that replaces another checkpoint (one that only mends notes or tags
// replaces none).
func (e *Event) names() bool {
	if e.Format > Format || e.Checkpoint == "" {
		return false
	}
	return e.Kind == KindCreate || e.Kind == KindAdopt || e.Kind == KindRebuild && e.RebuiltFrom != ""
}

// moves reports whether e is a rollback or an undo.
func (e *Event) moves() bool {
	return e.Format <= Format && (e.Kind == KindRollback || e.Kind == KindUndo)
}
