// Package record implements checkpoint.json, the record of one checkpoint: the Record type, its
// JSON form, its checksum, and the message of the checkpoint's commit, which repeats a part of it.
//
// Parse, Seal and ParseSealed read, write and check a record. The JSON is not handled by encoding/json:
// a record keeps unknown members, the digits of numbers and a documented order of members, so that
// each type has a table of members (members.go) with codecs that read and write them. Message and
// ParseMessage handle the commit message. Set, Unset, MergePatch, Get and Diff work on a job's
// state, which is any JSON document.
//
// Records come from other clones and may be hostile. The package rejects whatever is not strict
// JSON (duplicate members, invalid UTF-8, lone surrogates, too deep, too large), malformed ids and
// names, and records of a newer format. A path in a record is data: no caller may write to a place
// that only a record names. The package is pure and reads no file or repository. Start reading with
// Record and members.go.
package record

import (
	"encoding/json"
	"time"

	"git-checkpoint/internal/format/name"
)

// Format is the version of the record that this package writes, and the newest one that it reads.
const Format = 1

// Record is the content of checkpoint.json; docs/format.md describes each member. An empty object
// id is written as null. The Extra of each type holds the members that this version does not know,
// and those that only some callers use (see Member). They are written back after the
// known members.
type Record struct {
	Format      int
	ID          name.ID
	Label       string
	Session     name.Session
	Step        int
	StepName    string
	Iteration   string
	Milestone   bool
	Trigger     string
	Status      string
	Message     string
	Topic       string // left out when empty
	CreatedAt   time.Time
	Workflow    Workflow
	Previous    name.ID         // null when empty
	RebuiltFrom name.ID         // left out when empty
	State       json.RawMessage // any JSON, raw to keep the digits of numbers; {} when nil
	Outputs     map[string]Output
	Error       json.RawMessage // any JSON; null when nil
	Git         Git
	Files       Files
	Snapshot    Snapshot
	Checksum    string // left out when empty, as before Seal
	Extra       map[string]json.RawMessage
}

// Workflow names the workflow definition that the checkpoint was made with.
type Workflow struct {
	Name    string
	Version string
	Extra   map[string]json.RawMessage
}

// Output describes one output, a named file that is stored with the checkpoint. Path is its place
// in the record commit, Source the file that it was read from. Size is in bytes. Entries is the
// number of elements if the output is a JSON array, else nil.
type Output struct {
	Path    Path
	Source  Path
	OID     name.OID
	Size    int64
	Lines   int
	Entries *int
	Extra   map[string]json.RawMessage
}

// Git is the state of the repository at the time of the checkpoint. All lists but Staged are
// complete, because a rollback restores them.
type Git struct {
	Branch          Path     // full ref; null when empty: HEAD was detached
	Head            name.OID // null when empty: there was no commit yet
	Detached        bool
	Operation       string // merge, rebase, ... in progress; null when empty
	Worktree        Path
	Worktrees       []Worktree
	Index           name.OID // tree of what was staged; null when empty: not known
	Staged          []Path
	Unmerged        []Path
	IntentToAdd     []Path // index entries of git add -N
	AssumeUnchanged []Path
	SparsePresent   []Path // skip-worktree entries whose file existed all the same
	Extra           map[string]json.RawMessage
}

// Worktree is another worktree of the repository at the time of the checkpoint.
type Worktree struct {
	Name   Path
	Branch Path // full ref; null when empty
	Head   name.OID
	Extra  map[string]json.RawMessage
}

// Files lists the changes since the previous checkpoint. Use NewFiles to make one.
type Files struct {
	Created   []Path
	Modified  []Path
	Deleted   []Path
	Counts    [3]int // created, modified, deleted; lengths of the lists before they were cut
	Truncated bool
	Extra     map[string]json.RawMessage
}

// Snapshot describes what was captured.
type Snapshot struct {
	Tree     name.OID // null when no files were captured
	Complete bool     // nothing was skipped
	Skipped  []Skipped
	// Modes has the permission bits that git does not keep, by path, as octal text such as "0600".
	Modes map[Path]string
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
