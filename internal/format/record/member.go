package record

import (
	"encoding/json"

	"git-checkpoint/internal/format/name"
)

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
