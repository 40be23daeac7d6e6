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
// are in paths.go.
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

// Member names a member that is not a field, because few callers use it. It is in the Extra of its
// type, and versions that do not know it keep it as it is. T is the type of its value.
type Member[T any] string

// Of returns the value in extra. It returns false, and the zero value, if there is none or if it is
// malformed.
func (m Member[T]) Of(extra map[string]json.RawMessage) (T, bool) {
	var value, none T
	raw, has := extra[string(m)]
	if !has || json.Unmarshal(raw, &value) != nil {
		return none, false
	}
	return value, true
}

// IsIn reports whether extra has the member, whatever its value is.
func (m Member[T]) IsIn(extra map[string]json.RawMessage) bool {
	_, has := extra[string(m)]
	return has
}

// Set puts the value into extra, which may be nil.
func (m Member[T]) Set(extra *map[string]json.RawMessage, value T) {
	if *extra == nil {
		*extra = map[string]json.RawMessage{}
	}
	raw, _ := json.Marshal(value) //nolint:errcheck // the types of members are words, booleans, paths, and structs of them
	(*extra)[string(m)] = raw
}

// Members of Record.
const (
	memberAgent    Member[Agent]    = "agent"           // see SetAgent
	RebuiltMissing Member[[]string] = "rebuilt_missing" // what a rebuild could not recover
	// Outside is true if no agent made the checkpoint, and none was at work in its worktree since the
	// one before. It is false if one was at work, and missing if nobody looked.
	Outside Member[bool] = "outside"
	// Base is BaseHead if files and authors count from HEAD, not from the checkpoint before: its files were
	// never in the worktree.
	Base Member[string] = "base"
	// Joins is the head of another line of the session, if the files have what that line has: a second checkpoint before this
	// one, for lines only.
	Joins Member[name.ID] = "joins"
	// BroughtBack lists the paths whose content this program brought back from another checkpoint since the one before, or
	// the agent's own rewind: it is nobody's change, and the lines have the makers that they had.
	BroughtBack Member[[]Path] = "brought_back"
	Tagged      Member[bool]   = "tagged" // false if a milestone is not meant to have a tag. Without it, it may have one
)

// BaseHead is the only value of Base.
const BaseHead = "head"

// IsOnHead reports whether the record's differences count from HEAD although it has a previous checkpoint.
func (r *Record) IsOnHead() bool {
	base, _ := Base.Of(r.Extra)
	return base == BaseHead
}

// Members of Git.
const (
	// HeadDropped is true if Head is not a parent of the checkpoint's commit, because that commit or
	// one below it holds something that was expunged.
	HeadDropped Member[bool] = "head_dropped"
	// DocumentBranch is the branch that an imported document names, where the importing repository has
	// no branch of that name.
	DocumentBranch Member[string] = "document_branch"
	// OperationHead is the other commit of an operation in progress, such as the one being merged.
	OperationHead Member[name.OID] = "operation_head"
	StagedCut     Member[bool]     = "staged_truncated" // true if the list Staged was cut
)

// Members of Snapshot.
const (
	// ModesKnown is true if a file that Modes does not list had the permissions that git would give
	// it. Without this member, as in the records of early versions, they are not known.
	ModesKnown Member[bool]   = "modes_known"
	Ignored    Member[[]Path] = "ignored" // lists the paths that were captured although they were ignored
)

// FilesUnknown is a member of Files: true if the list is empty because the checkpoint before could
// not be compared.
const FilesUnknown Member[bool] = "unknown"
