// Package proof compares everything that a repository says about checkpoints: refs, journal,
// checkpoint commits, record commits, records, notes, tags, and the objects below them. It defines
// the kinds of damage and finds each. It trusts no cache, and no object id that it has not computed
// from the content itself.
//
// ReadView reads the refs (View). View.Open reads and proves the journal and the
// notes of one session (Session). Session.Judge then proves its checkpoints (Subjects) and returns
// a Verdict with Findings for each; with a Deep it also reads every file of them. The chain of
// proof is in section "Damage" of docs/format.md.
//
// The package writes nothing and repairs nothing: that is done by package repair. Package repair
// also checks the rules of workflows.
package proof

import "slices"

// Kind names a kind of damage. The text is what `--json` prints; docs/format.md explains each.
type Kind string

// Damage of one checkpoint. "Missing" means that an object is not there, "garbled" that its content
// does not have its id, "unreadable" that its content cannot be parsed.
const (
	// Its note is not there, is not its record, is another checkpoint's record, or is there twice.
	NoteMissing    Kind = "note_missing"
	NoteEdited     Kind = "note_edited"
	NoteSwapped    Kind = "note_swapped"
	NoteTwice      Kind = "note_twice"
	NoteUnreadable Kind = "note_unreadable"

	TagMoved Kind = "tag_moved" // a tag names the wrong commit

	// The blob checkpoint.json. RecordOther is a whole record that is not the one the journal
	// names.
	RecordMissing    Kind = "record_missing"
	RecordGarbled    Kind = "record_garbled"
	RecordUnreadable Kind = "record_unreadable"
	RecordOther      Kind = "record_other"
	RecordChecksum   Kind = "record_checksum"
	RecordID         Kind = "record_id"
	RecordFormat     Kind = "record_format"
	RecordLimits     Kind = "record_limits"

	// The objects around the record and below the checkpoint. Head is the commit that HEAD was at;
	// CommitForeign is a commit that is not a checkpoint.
	RecordCommitMissing Kind = "record_commit_missing"
	RecordCommitGarbled Kind = "record_commit_garbled"
	CommitMissing       Kind = "commit_missing"
	CommitGarbled       Kind = "commit_garbled"
	CommitForeign       Kind = "commit_foreign"
	TreeMissing         Kind = "tree_missing"
	TreeGarbled         Kind = "tree_garbled"
	TreeRefused         Kind = "tree_refused"
	BlobMissing         Kind = "blob_missing"
	BlobGarbled         Kind = "blob_garbled"
	HeadMissing         Kind = "head_missing"
	HeadGarbled         Kind = "head_garbled"
	// A file of git-lfs whose content is not here. No object of git is missing.
	OutsideMissing Kind = "outside_missing"

	// The ref is gone, names another commit that claims the same id, names another checkpoint, or
	// names something else.
	RefMissing Kind = "ref_missing"
	RefMoved   Kind = "ref_moved"
	RefID      Kind = "ref_id"
	RefForeign Kind = "ref_foreign"

	// No event names the ref; event and record disagree; two events name different commits.
	EventMissing  Kind = "event_missing"
	EventMismatch Kind = "event_mismatch"
	EventConflict Kind = "event_conflict"

	// The commit message, or what C and M contain, disagrees with the record.
	TrailerMismatch  Kind = "trailer_mismatch"
	ContentsMismatch Kind = "contents_mismatch"

	// Found by package repair, which reads workflows and asks git about signatures.
	SchemaViolation Kind = "schema_violation"
	RuleViolation   Kind = "rule_violation"

	Unsigned           Kind = "unsigned"
	SignatureBad       Kind = "signature_bad"
	SignatureUnchecked Kind = "signature_unchecked"
)

// Damage of a session's journal, of its archive, of the notes as a whole, or of packed-refs.
const (
	// This worktree saw a journal, or a newer one, that is gone now.
	JournalDeleted  Kind = "journal_deleted"
	JournalRewound  Kind = "journal_rewound"
	JournalReplaced Kind = "journal_replaced"
	// One commit of the journal, or the order of its events.
	JournalMissing  Kind = "journal_commit_missing"
	JournalGarbled  Kind = "journal_commit_garbled"
	JournalForged   Kind = "journal_forged"
	JournalOrder    Kind = "journal_order"
	NotesUnreadable Kind = "notes_unreadable"
	// The archive cannot be read, so nobody knows what it stands for.
	ArchiveUnreadable Kind = "archive_unreadable"
	RefsGarbled       Kind = "refs_garbled"
)

// Finding is one problem.
type Finding struct {
	Kind    Kind   `json:"kind"`
	Object  string `json:"object"`  // the object id or ref that is wrong
	Message string `json:"message"` // what is wrong, for people
	Hint    string `json:"hint"`    // what to do about it
}

// harmless returns the kinds that do not prevent a rollback: what they are about can be derived
// again, or is not part of what is restored.
func harmless() []Kind {
	return []Kind{
		NoteMissing, NoteEdited, NoteSwapped, NoteTwice, NoteUnreadable, TagMoved, RefMissing, RefMoved, RefID, RefForeign,
		EventMissing, EventMismatch, EventConflict, TrailerMismatch, HeadMissing, HeadGarbled, OutsideMissing, SchemaViolation, RuleViolation,
		Unsigned, SignatureBad, SignatureUnchecked,
	}
}

// Restorable reports whether a rollback to a checkpoint with these findings works. Findings about
// what a wrong ref points at are not about the checkpoint, and the caller leaves them out.
func Restorable(findings []Finding) bool {
	return !slices.ContainsFunc(findings, func(f Finding) bool { return !slices.Contains(harmless(), f.Kind) })
}

// IsDeep reports whether this kind of damage is found by reading all objects only.
func (k Kind) IsDeep() bool {
	return k == TreeMissing || k == TreeGarbled || k == TreeRefused || k == BlobMissing || k == BlobGarbled || k == HeadGarbled || k == OutsideMissing
}
