package proof

import "git-checkpoint/internal/format/name"

// hintOf returns what the user can do about damage of a kind. id is the checkpoint; empty: a
// session.
func hintOf(kind Kind, id name.ID) string {
	what := string(id)
	if what == "" {
		what = "--all"
	}
	rebuild := "`git checkpoint rebuild " + what + "` "
	if hint := hintOfRef(kind, rebuild); hint != "" {
		return hint
	}
	switch kind {
	case NoteMissing, NoteEdited, NoteSwapped, NoteTwice, NoteUnreadable, NotesUnreadable:
		return rebuild + "writes the note again"
	case RecordMissing, RecordGarbled, RecordUnreadable, RecordLimits, RecordCommitMissing, RecordCommitGarbled, CommitMissing, CommitGarbled:
		return rebuild + "makes a new checkpoint beside it from what can be proven"
	case RecordFormat:
		return "a git-checkpoint that knows this format can read it"
	case RecordOther, RecordChecksum, RecordID, CommitForeign, EventMismatch, EventConflict, TrailerMismatch, ContentsMismatch:
		return "somebody forged or changed this; compare it with an undamaged copy in a clone or remote"
	case TreeRefused:
		return "somebody else made it; `git checkpoint delete " + string(id) + "` deletes it"
	case TreeMissing, TreeGarbled, BlobMissing, BlobGarbled:
		return rebuild + "takes the object from the worktree if it is there; otherwise fetch it from a clone or backup"
	case OutsideMissing:
		return "git-lfs fetches it, from the remote that has it"
	case HeadMissing, HeadGarbled:
		return "fetch the history of its branch; files and state can be restored without it"
	case SchemaViolation, RuleViolation:
		return "`git checkpoint workflow show` shows the current rules; files and state can still be restored"
	case Unsigned, SignatureBad, SignatureUnchecked:
		return "`git verify-commit` shows more; with `checkpoint.sign`, checkpoints are signed from now on"
	case JournalDeleted, JournalRewound, JournalReplaced, JournalMissing, JournalGarbled, JournalForged:
		return "`git checkpoint rebuild --all` brings back what can be proven of it"
	case ArchiveUnreadable:
		return rebuild + "makes refs of the checkpoints that it held, as far as their commits are here, and deletes it"
	case RefsGarbled:
		return "compare the file packed-refs of the git directory with a clone or backup, and repair that line by hand"
	case JournalOrder:
		return "compare it with a clone or backup: `git checkpoint history --verify` shows the first break"
	}
	return ""
}

// Violated returns a finding about a session, or one that another package makes, with the usual hint
// for its kind.
func Violated(kind Kind, object, message string) Finding {
	return Finding{kind, object, message, hintOf(kind, "")}
}

// hintOfRef is hintOf for damage of a ref or an event, and "" for any other.
func hintOfRef(kind Kind, rebuild string) string {
	switch kind {
	case TagMoved:
		return rebuild + "restores the tag; a tag object is yours and stays: `git tag -d` deletes it"
	case EventMissing:
		return rebuild + "adopts it into the journal"
	case RefMissing:
		return rebuild + "makes the ref again if the commit is still here; otherwise fetch it from a clone or backup"
	case RefForeign, RefID:
		return rebuild + "restores the ref if the journal names a commit; `git update-ref -d` deletes a ref that nothing names"
	case RefMoved:
		return rebuild + "puts the ref back if the commit that the journal names is still here and both have the same record; if it is gone because history was rewritten, it shows how the other one differs, and adopts it"
	}
	return ""
}
