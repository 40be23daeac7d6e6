package proof

import "git-checkpoint/internal/name"

// hintOf returns what the user can do about damage of a kind. id is the checkpoint; empty: a
// session.
func hintOf(kind Kind, id name.ID) string {
	what := string(id)
	if what == "" {
		what = "--all"
	}
	rebuild := "`git checkpoint rebuild " + what + "` "
	switch kind {
	case NoteMissing, NoteEdited, NoteSwapped, NoteTwice, NoteUnreadable, NotesUnreadable:
		return rebuild + "writes the note again"
	case TagMoved:
		return rebuild + "puts the tag back"
	case EventMissing:
		return rebuild + "adopts it"
	case RefMissing:
		return rebuild + "makes the ref again while the commit is here; a clone or backup that has it brings it back"
	case RefForeign, RefID:
		return rebuild + "puts the ref back where the journal names a commit; `git update-ref -d` drops one that nothing names"
	// Only a person can decide which of the two commits is right.
	case RefMoved:
		return "two commits claim this id, and neither is overwritten: compare them, then `git update-ref` by hand"
	case RecordMissing, RecordGarbled, RecordUnreadable, RecordLimits, RecordCommitMissing, RecordCommitGarbled, CommitMissing, CommitGarbled:
		return rebuild + "makes a checkpoint beside it of what can be proven"
	case RecordFormat:
		return "a git-checkpoint that knows this format reads it; `git checkpoint delete " + string(id) + "` drops it"
	case RecordOther, RecordChecksum, RecordID, CommitForeign, EventMismatch, EventConflict, TrailerMismatch, ContentsMismatch:
		return "somebody made or changed this; `git checkpoint delete " + string(id) + "` drops it"
	case TreeMissing, TreeGarbled, BlobMissing, BlobGarbled:
		return rebuild + "takes the object from the worktree where it is there; else fetch it from a clone or backup"
	case HeadMissing, HeadGarbled:
		return "fetch the history of its branch; files and state come back without it"
	case SchemaViolation, RuleViolation:
		return "`git checkpoint workflow show` has the rules of today; the files and the state can be restored all the same"
	case Unsigned, SignatureBad, SignatureUnchecked:
		return "`git verify-commit` says more; `checkpoint.sign` signs what is made from now on"
	case JournalDeleted, JournalRewound, JournalReplaced, JournalMissing, JournalGarbled:
		return "`git checkpoint rebuild --all` brings back what can be proven of it"
	case RefsGarbled:
		return "compare the file packed-refs of the git directory with a clone or backup, and mend that line by hand"
	case JournalForged, JournalOrder:
		return "compare it with a clone or backup: `git checkpoint history --verify` shows the first break"
	}
	return ""
}

// Violated returns a finding with the usual hint for its kind. It is for packages that find damage
// themselves.
func Violated(kind Kind, object, message string) Finding {
	return Finding{kind, object, message, hintOf(kind, "")}
}
