// Package proof holds what a repository says of checkpoints against each other: refs,
// journal, checkpoint commits, record commits, records, notes, tags, and the objects
// below them. It owns the kinds of damage and how each is found. It believes no cache
// and no id that it has not computed itself.
//
// It only looks: it writes nothing, mends nothing, and refuses to judge what a workflow
// means by a state, which is for package checkpoint.
package proof

import "slices"

// Kind names a kind of damage, as `--json` gives it.
type Kind string

// Damage of one checkpoint.
const (
	NoteMissing    Kind = "note_missing"
	NoteEdited     Kind = "note_edited"
	NoteSwapped    Kind = "note_swapped"
	NoteTwice      Kind = "note_twice"
	NoteUnreadable Kind = "note_unreadable"

	TagMoved Kind = "tag_moved"

	RecordMissing    Kind = "record_missing"
	RecordGarbled    Kind = "record_garbled"
	RecordUnreadable Kind = "record_unreadable"
	RecordOther      Kind = "record_other"
	RecordChecksum   Kind = "record_checksum"
	RecordID         Kind = "record_id"
	RecordFormat     Kind = "record_format"
	RecordLimits     Kind = "record_limits"

	RecordCommitMissing Kind = "record_commit_missing"
	RecordCommitGarbled Kind = "record_commit_garbled"
	CommitMissing       Kind = "commit_missing"
	CommitGarbled       Kind = "commit_garbled"
	CommitForeign       Kind = "commit_foreign"
	TreeMissing         Kind = "tree_missing"
	TreeGarbled         Kind = "tree_garbled"
	BlobMissing         Kind = "blob_missing"
	BlobGarbled         Kind = "blob_garbled"
	HeadMissing         Kind = "head_missing"
	HeadGarbled         Kind = "head_garbled"

	RefMissing Kind = "ref_missing"
	RefMoved   Kind = "ref_moved"
	RefID      Kind = "ref_id"
	RefForeign Kind = "ref_foreign"

	EventMissing  Kind = "event_missing"
	EventMismatch Kind = "event_mismatch"
	EventConflict Kind = "event_conflict"

	TrailerMismatch  Kind = "trailer_mismatch"
	ContentsMismatch Kind = "contents_mismatch"

	SchemaViolation Kind = "schema_violation"
	RuleViolation   Kind = "rule_violation"

	Unsigned           Kind = "unsigned"
	SignatureBad       Kind = "signature_bad"
	SignatureUnchecked Kind = "signature_unchecked"
)

// Damage of a session's journal.
const (
	JournalDeleted  Kind = "journal_deleted"
	JournalRewound  Kind = "journal_rewound"
	JournalReplaced Kind = "journal_replaced"
	JournalMissing  Kind = "journal_commit_missing"
	JournalGarbled  Kind = "journal_commit_garbled"
	JournalForged   Kind = "journal_forged"
	JournalOrder    Kind = "journal_order"
	NotesUnreadable Kind = "notes_unreadable"
	RefsGarbled     Kind = "refs_garbled"
)

// Finding is one thing that is wrong: with which object or ref, what it means, and what
// to do about it.
type Finding struct {
	Kind    Kind   `json:"kind"`
	Object  string `json:"object"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// harmless are the kinds that stand in no rollback's way: what they are about can be
// made again, or is no part of what comes back.
func harmless() []Kind {
	return []Kind{
		NoteMissing, NoteEdited, NoteSwapped, NoteTwice, NoteUnreadable, TagMoved, RefMissing, RefMoved, RefID, RefForeign,
		EventMissing, EventMismatch, EventConflict, TrailerMismatch, HeadMissing, HeadGarbled, SchemaViolation, RuleViolation,
		Unsigned, SignatureBad, SignatureUnchecked,
	}
}

// Restorable reports whether a rollback to a checkpoint with these findings works. A
// ref's own record is named by the ref.
func Restorable(findings []Finding) bool {
	return !slices.ContainsFunc(findings, func(f Finding) bool { return !slices.Contains(harmless(), f.Kind) })
}

// IsDeep reports whether only a look at every object finds damage of a kind.
func (k Kind) IsDeep() bool {
	return k == TreeMissing || k == TreeGarbled || k == BlobMissing || k == BlobGarbled || k == HeadGarbled
}
