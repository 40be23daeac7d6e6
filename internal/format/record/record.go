// Package record implements checkpoint.json, the record of one checkpoint: the Record type, its
// JSON form, its checksum, and the message of the checkpoint's commit, which repeats a part of it.
//
// Parse, Seal and ParseSealed read, write and check a record. The tags of its structs name the members;
// they are read by go-json-experiment, because encoding/json would lose unknown members, the difference
// between null and absent, and the place of errors (codec.go). Message and ParseMessage handle the commit
// message. Set, Unset, MergePatch, Get and Diff work on a job's state, which is any JSON document.
//
// Records come from other clones and may be hostile. The package rejects whatever is not strict
// JSON (duplicate members, invalid UTF-8, lone surrogates, too deep, too large), malformed ids and
// names, and records of a newer format. A path in a record is data: no caller may write to a place
// that only a record names. The package is pure and reads no file or repository. Start reading with
// Record and codec.go.
package record

import (
	"encoding/json"
	"slices"
	"time"

	"git-checkpoint/internal/format/name"
)

// Format is the version of the record that this package writes, and the newest one that it reads.
const Format = 1

// Record is the content of checkpoint.json; docs/format.md describes each member. An empty object
// id is written as null. The Extra of each type holds the members that this version does not know,
// and those that only some callers use (see Member). They are written back after the
// known members, and only the checksum comes behind them.
type Record struct {
	Format      int                        `json:"format"`
	ID          name.ID                    `json:"id"`
	Label       string                     `json:"label"`
	Session     name.Session               `json:"session"`
	Step        int                        `json:"step"`
	StepName    string                     `json:"step_name"`
	Iteration   string                     `json:"iteration"`
	Milestone   bool                       `json:"milestone"`
	Trigger     string                     `json:"trigger"`
	Status      string                     `json:"status"`
	Message     string                     `json:"message"`
	Topic       string                     `json:"topic,omitzero"` // left out when empty
	CreatedAt   time.Time                  `json:"created_at"`
	Workflow    Workflow                   `json:"workflow"`
	Previous    name.ID                    `json:"previous"`              // null when empty
	RebuiltFrom name.ID                    `json:"rebuilt_from,omitzero"` // left out when empty
	State       json.RawMessage            `json:"state"`                 // any JSON, raw to keep the digits of numbers; {} when nil
	Outputs     map[string]Output          `json:"outputs"`
	Error       json.RawMessage            `json:"error"` // any JSON; null when nil
	Git         Git                        `json:"git"`
	Files       Files                      `json:"files"`
	Snapshot    Snapshot                   `json:"snapshot"`
	Checksum    string                     `json:"checksum,omitzero"` // left out when empty, as before Seal
	Extra       map[string]json.RawMessage `json:",embed"`
}

// Workflow names the workflow definition that the checkpoint was made with.
type Workflow struct {
	Name    string                     `json:"name"`
	Version string                     `json:"version"`
	Extra   map[string]json.RawMessage `json:",embed"`
}

// Output describes one output, a named file that is stored with the checkpoint. Path is its place
// in the record commit, Source the file that it was read from. Size is in bytes. Entries is the
// number of elements if the output is a JSON array, else nil.
type Output struct {
	Path    Path                       `json:"path"`
	Source  Path                       `json:"source"`
	OID     name.OID                   `json:"oid"`
	Size    int64                      `json:"size"`
	Lines   int                        `json:"lines"`
	Entries *int                       `json:"entries,omitzero"`
	Extra   map[string]json.RawMessage `json:",embed"`
}

// Git is the state of the repository at the time of the checkpoint. All lists but Staged are
// complete, because a rollback restores them.
type Git struct {
	Branch          Path                       `json:"branch"` // full ref; null when empty: HEAD was detached
	Head            name.OID                   `json:"head"`   // null when empty: there was no commit yet
	Detached        bool                       `json:"detached"`
	Operation       string                     `json:"operation"` // merge, rebase, ... in progress; null when empty
	Worktree        Path                       `json:"worktree"`
	Worktrees       []Worktree                 `json:"worktrees"`
	Index           name.OID                   `json:"index"` // tree of what was staged; null when empty: not known
	Staged          []Path                     `json:"staged"`
	Unmerged        []Path                     `json:"unmerged"`
	IntentToAdd     []Path                     `json:"intent_to_add"` // index entries of git add -N
	AssumeUnchanged []Path                     `json:"assume_unchanged"`
	SparsePresent   []Path                     `json:"sparse_present"` // skip-worktree entries whose file existed all the same
	Extra           map[string]json.RawMessage `json:",embed"`
}

// Worktree is another worktree of the repository at the time of the checkpoint.
type Worktree struct {
	Name   Path                       `json:"name"`
	Branch Path                       `json:"branch"` // full ref; null when empty
	Head   name.OID                   `json:"head"`
	Extra  map[string]json.RawMessage `json:",embed"`
}

// Files lists the changes since the previous checkpoint. Use NewFiles to make one.
type Files struct {
	Created   []Path                     `json:"created"`
	Modified  []Path                     `json:"modified"`
	Deleted   []Path                     `json:"deleted"`
	Counts    [3]int                     `json:"counts"` // created, modified, deleted; lengths of the lists before they were cut
	Truncated bool                       `json:"truncated"`
	Extra     map[string]json.RawMessage `json:",embed"`
}

// Drop takes files that are gone out of what was created and modified.
func (f *Files) Drop(gone func(Path) bool) {
	created, modified := len(f.Created), len(f.Modified)
	f.Created, f.Modified = slices.DeleteFunc(f.Created, gone), slices.DeleteFunc(f.Modified, gone)
	f.Counts[0] -= created - len(f.Created)
	f.Counts[1] -= modified - len(f.Modified)
}

// Snapshot describes what was captured. The names of its members, and of those of Skipped and AtRisk,
// are in twins.go.
type Snapshot struct {
	Tree     name.OID // null when no files were captured
	Complete bool     // nothing was skipped
	Skipped  []Skipped
	Modes    map[Path]string // has the permission bits that git does not keep, by path, as octal text such as "0600"
	// Raw lists the files whose exact bytes are in raw/ of the record commit, because git's
	// conversions would not give them back.
	Raw    []Path
	AtRisk []AtRisk
	Extra  map[string]json.RawMessage
}

// Skipped is a path that was not captured, and why.
type Skipped struct {
	Path   Path
	Reason string
	Size   int64 // in bytes; left out when 0
	Extra  map[string]json.RawMessage
}

// AtRisk is a path that was captured but may not be restored exactly, for example because a filter
// keeps the content outside git.
type AtRisk struct {
	Path   Path
	Reason string
	Extra  map[string]json.RawMessage
}
