// Package record owns checkpoint.json — the record of one checkpoint — its
// canonical checksum, the message of checkpoint commits, and the pure operations
// on a job's state: edit, query, diff. It reads no file and no repository.
//
// It refuses what is not strictly JSON (duplicate members, invalid UTF-8, lone
// surrogates, too deep, too large), ids and names outside their grammar, and
// records of a later format. A path in a record is data: nothing here or above
// may take it as a place to write to.
package record

import (
	"encoding/json"
	"time"

	"git-checkpoint/internal/name"
)

// Format is the version of the record that this package writes, and the highest
// one that it reads.
const Format = 1

// Record is checkpoint.json. Every object keeps the members that this version
// does not know in Extra and writes them back. An object id that is empty is null.
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
	State       json.RawMessage // raw, so that numbers keep their digits; {} when nil
	Outputs     map[string]Output
	Error       json.RawMessage // null when nil
	Git         Git
	Files       Files
	Snapshot    Snapshot
	Checksum    string // left out until Seal
	Extra       map[string]json.RawMessage
}

// Workflow names the definition that the checkpoint was made under.
type Workflow struct {
	Name    string
	Version string
	Extra   map[string]json.RawMessage
}

// Output is what the record says of a named blob. Entries counts the elements of
// an output that is a JSON array; nil for any other.
type Output struct {
	Path    Path
	Source  Path
	OID     name.OID
	Size    int64
	Lines   int
	Entries *int
	Extra   map[string]json.RawMessage
}

// Git is the place: where HEAD, the index and the other worktrees stood. The
// lists are whole, because a rollback puts them back.
type Git struct {
	Branch          Path     // null when empty: detached
	Head            name.OID // null when empty: unborn
	Detached        bool
	Operation       string // merge, rebase, …; null when empty
	Worktree        Path
	Worktrees       []Worktree
	Index           name.OID
	Staged          []Path
	Unmerged        []Path
	IntentToAdd     []Path
	AssumeUnchanged []Path
	SparsePresent   []Path
	Extra           map[string]json.RawMessage
}

// HeadDropped is a member of Git, in its Extra: Head is no parent of the checkpoint, because
// something that was expunged is in that commit or below it.
const HeadDropped = "head_dropped"

// DocumentBranch is a member of Git, in its Extra: the branch that an imported document
// names, where there is none of that name here.
const DocumentBranch = "document_branch"

// Worktree is another worktree of the repository at that moment.
type Worktree struct {
	Name   Path
	Branch Path // null when empty
	Head   name.OID
	Extra  map[string]json.RawMessage
}

// Files is what changed since the previous live checkpoint; see NewFiles.
type Files struct {
	Created   []Path
	Modified  []Path
	Deleted   []Path
	Counts    [3]int // of the whole lists, before they were cut
	Truncated bool
	Extra     map[string]json.RawMessage
}

// Snapshot is what the trees hold, and what they do not. Modes has the permission
// bits that git does not keep, octal ("0600"); Raw the paths in raw/.
type Snapshot struct {
	Tree     name.OID // null when no files were captured
	Complete bool
	Skipped  []Skipped
	Modes    map[Path]string
	Raw      []Path
	AtRisk   []AtRisk
	Extra    map[string]json.RawMessage
}

// Skipped is a path that a rule left out.
type Skipped struct {
	Path   Path
	Reason string
	Size   int64 // left out when 0
	Extra  map[string]json.RawMessage
}

// AtRisk is a path that was captured, but whose content outside git may be lost.
type AtRisk struct {
	Path   Path
	Reason string
	Extra  map[string]json.RawMessage
}
