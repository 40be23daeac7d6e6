package checkpoint

import (
	"encoding/json"

	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

// The types in this file are what commands answer; their JSON members are a
// contract, documented in docs/json.md, and only ever grow.

// Detail is one checkpoint as `create` and `show` answer it: the record's own
// members, then commit, ref and tag, and for create whether it was created.
type Detail struct {
	Record   *record.Record
	Raw      json.RawMessage // checkpoint.json as stored
	Commit   name.OID
	Ref      name.Ref
	Tag      name.Ref // empty when it has none
	Created  *bool    // only create answers it
	Warnings []string // for people, on stderr

	Current, Discarded, Pinned bool // what the fold says, for people

	Said string // how the workflow confirms a create; empty: as usual
}

// Item is one line of `list`.
type Item struct {
	ID        name.ID      `json:"id"`
	Label     string       `json:"label"`
	Session   name.Session `json:"session"`
	Step      int          `json:"step"`
	StepName  string       `json:"step_name"`
	Iteration string       `json:"iteration"`
	Milestone bool         `json:"milestone"`
	Trigger   string       `json:"trigger"`
	Status    string       `json:"status"`
	Message   string       `json:"message"`
	CreatedAt Time         `json:"created_at"`
	Commit    name.OID     `json:"commit"`
	Files     int          `json:"files"` // created + modified + deleted
	Current   bool         `json:"current"`
	Discarded bool         `json:"discarded"`
	Pinned    bool         `json:"pinned"`
	Valid     bool         `json:"valid"`
	Problem   string       `json:"problem,omitempty"` // why it is not valid
	Redone    bool         `json:"-"`                 // its step has a newer live milestone, and a number by itself means that one
}

// Listing is the answer of `list` for one session.
type Listing struct {
	Session name.Session
	Topic   string
	Items   []Item
	Total   int // before Limit
}

// Path is a path of the worktree. One that is not UTF-8 is an object in JSON.
type Path = record.Path

// FileChange is one path that differs.
type FileChange struct {
	Path    Path   `json:"path"`
	Op      string `json:"op"` // added, modified, deleted, renamed, type
	OldPath Path   `json:"old_path,omitempty"`
}

// StateChange is one value of the state that differs.
type StateChange struct {
	Path string          `json:"path"`
	Op   string          `json:"op"` // added, removed, changed
	Old  json.RawMessage `json:"old"`
	New  json.RawMessage `json:"new"`

	MovedFrom string `json:"moved_from,omitempty"` // an object that another list had before, by its identity
}

// OutputChange is one output that differs; lines are entries for a list.
type OutputChange struct {
	Name     string `json:"name"`
	Op       string `json:"op"`
	OldLines int    `json:"old_lines"`
	NewLines int    `json:"new_lines"`

	OldEntries *int `json:"old_entries,omitempty"`
	NewEntries *int `json:"new_entries,omitempty"`
}

// Labelled names a checkpoint.
type Labelled struct {
	ID    name.ID `json:"id"`
	Label string  `json:"label"`
}

// Marked is a checkpoint that was pinned or unpinned.
type Marked struct {
	Labelled
	Session name.Session `json:"session"`
	Pinned  bool         `json:"pinned"`
	Changed bool         `json:"changed"` // false: it was so already
}

// CommitLine is one commit between two checkpoints.
type CommitLine struct {
	OID     name.OID `json:"oid"`
	Subject string   `json:"subject"`
}

// Difference is the answer of `diff`. To is empty when it is the worktree now.
type Difference struct {
	From        Labelled       `json:"from"`
	To          *Labelled      `json:"to"`
	State       []StateChange  `json:"state"`
	Outputs     []OutputChange `json:"outputs"`
	Files       []FileChange   `json:"files"`
	Checkpoints []Labelled     `json:"checkpoints"`
	Commits     []CommitLine   `json:"commits"`

	FromTree, ToTree name.OID `json:"-"` // for git's own file output
}

// Differs reports whether there is anything between the two sides.
func (d *Difference) Differs() bool { return len(d.State)+len(d.Outputs)+len(d.Files) > 0 }

// PlanFiles is what a rollback does to the worktree. Paths are sorted.
type PlanFiles struct {
	Write   []Path   `json:"write"` // created or given other content
	Delete  []Path   `json:"delete"`
	Mode    []Path   `json:"mode"`    // only the executable bit changes
	Risk    []Risk   `json:"risk"`    // what cannot be brought back exactly
	Discard []string `json:"discard"` // labels (or ids) of the checkpoints it discards
	Skipped []Path   `json:"skipped"` // paths that stay untouched by rule
}

// Risk names a path and what is not kept of it.
type Risk struct {
	Path   Path   `json:"path"`
	Reason string `json:"reason"`
}

// BranchPlan is what a rollback does to HEAD.
type BranchPlan struct {
	Name        name.Ref `json:"name"` // the branch HEAD is on, empty when detached
	From        name.OID `json:"from"`
	To          name.OID `json:"to"`               // HEAD when the checkpoint was made
	Moved       bool     `json:"moved"`            // HEAD goes there (--branch)
	Target      name.Ref `json:"target,omitempty"` // the branch it is on afterwards, when it moves
	CommitsLeft int      `json:"commits_left"`     // commits between, left where they are or behind

	Back *BranchBack `json:"back,omitempty"` // a branch that HEAD is not on afterwards, and that an undo takes back
}

// moves reports whether any branch does, or HEAD.
func (p BranchPlan) moves() bool { return p.Moved || p.Back != nil }

// BranchBack is a branch that moves beside HEAD.
type BranchBack struct {
	Name name.Ref `json:"name"`
	From name.OID `json:"from"` // empty: it was made
	To   name.OID `json:"to"`
}

// RollbackAnswer is what `rollback` and `undo` answer, planned or done.
type RollbackAnswer struct {
	Session  name.Session    `json:"session"`
	From     name.ID         `json:"from"` // current before; empty when there was none
	To       name.ID         `json:"to"`
	ToLabel  string          `json:"to_label"`
	Safety   name.ID         `json:"safety"` // empty for a dry run
	DryRun   bool            `json:"dry_run"`
	Mode     string          `json:"mode"` // all, worktree, state, paths, produced
	Plan     PlanFiles       `json:"plan"`
	Branch   BranchPlan      `json:"branch"`
	State    json.RawMessage `json:"state"`
	Pending  json.RawMessage `json:"pending"`
	NextStep *NextStep       `json:"next_step"`
	Warnings []string        `json:"warnings,omitempty"`

	Said string `json:"-"` // how the workflow says it; empty: as usual
}

// NextStep is the step that follows the current one.
type NextStep struct {
	Step int    `json:"step"`
	Name string `json:"name"`
}

// HistoryLine is one event of a journal as `history` answers it.
type HistoryLine struct {
	Event      string       `json:"event"`
	Time       Time         `json:"time"`
	Actor      string       `json:"actor"`
	Session    name.Session `json:"session"`
	Checkpoint name.ID      `json:"checkpoint"`
	From       name.ID      `json:"from"`
	To         name.ID      `json:"to"`
	Reason     string       `json:"reason"`
	OID        name.OID     `json:"oid"`

	Label    string            `json:"label,omitempty"`
	Status   string            `json:"status,omitempty"`
	Safety   name.ID           `json:"safety,omitempty"`
	Mode     string            `json:"mode,omitempty"`
	Worktree string            `json:"worktree,omitempty"`
	Discard  []name.ID         `json:"discard,omitempty"`
	Restore  []name.ID         `json:"restore,omitempty"`
	Pruned   []name.ID         `json:"pruned,omitempty"`
	Workflow string            `json:"workflow,omitempty"`
	Topic    string            `json:"topic,omitempty"`
	Branch   string            `json:"branch,omitempty"`
	Extra    map[string]string `json:"extra,omitempty"`
}

// StatusAnswer is what `status` and the bare command answer.
type StatusAnswer struct {
	Enabled            bool          `json:"enabled"`
	Session            name.Session  `json:"session"` // empty: none yet
	Workflow           string        `json:"workflow"`
	Current            *Labelled     `json:"current"`
	CheckpointCount    int           `json:"checkpoint_count"`
	LastCheckpointAt   *Time         `json:"last_checkpoint_at"`
	NextAction         string        `json:"next_action"`
	Branch             name.Ref      `json:"branch"`
	Changed            []FileChange  `json:"changed"` // since the current checkpoint
	UnfinishedRollback *Unfinished   `json:"unfinished_rollback"`
	Remote             *RemoteStatus `json:"remote"`

	Topic     string       `json:"topic,omitempty"`
	Status    string       `json:"status,omitempty"` // of the session when it is closed or paused, else of the current checkpoint
	Discarded int          `json:"discarded,omitempty"`
	Closed    name.Session `json:"closed,omitempty"` // the last session, when none is active and that one is over
}

// Unfinished is a rollback that was cut off.
type Unfinished struct {
	To        name.ID `json:"to"`
	Safety    name.ID `json:"safety"`
	StartedAt Time    `json:"started_at"`
}

// RemoteStatus is when the session was last synchronised with a remote.
type RemoteStatus struct {
	Name     string `json:"name"`
	LastSync *Time  `json:"last_sync"`
	Auto     string `json:"auto,omitempty"` // what the last push in the background ended with
}

// ManifestEntry is one checkpoint of a session's manifest.
type ManifestEntry struct {
	ID        name.ID `json:"id"`
	Label     string  `json:"label"`
	Step      int     `json:"step"`
	Timestamp Time    `json:"timestamp"`
	Valid     bool    `json:"valid"`
	Discarded bool    `json:"discarded"`
	Pinned    bool    `json:"pinned"`
}

// RollbackRecord is one rollback of a session's manifest.
type RollbackRecord struct {
	From   name.ID `json:"from"`
	To     name.ID `json:"to"`
	Time   Time    `json:"time"`
	Reason string  `json:"reason"`
}

// Manifest is a session as `session show` and `session list` answer it.
type Manifest struct {
	Session           name.Session     `json:"session"`
	Workflow          string           `json:"workflow"`
	Topic             string           `json:"topic"`
	Status            string           `json:"status"`
	Branch            name.Ref         `json:"branch"`
	CreatedAt         Time             `json:"created_at"`
	UpdatedAt         Time             `json:"updated_at"`
	Checkpoints       []ManifestEntry  `json:"checkpoints"`
	CurrentCheckpoint name.ID          `json:"current_checkpoint"`
	RollbackHistory   []RollbackRecord `json:"rollback_history"`

	Active   bool `json:"active"`   // in this worktree
	Archived bool `json:"archived"` // its checkpoints are in one ref
}

// Removed is what `delete` and `session delete` answer.
type Removed struct {
	Removed []Labelled `json:"removed"`
	Bytes   int64      `json:"bytes"` // of objects that nothing else holds, measured
}
