package proof

// This file compares the record of a checkpoint with what is stored beside it, and with its note.
// It checks that the right parts exist; reading their content is up to Deep.

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// judgeContents compares the record with the trees and commits beside it: files, HEAD, index,
// outputs, exact bytes and conflicts.
func (j *judging) judgeContents(v *Verdict, f *facts) {
	r := f.record
	if r == nil {
		return
	}
	differ := func(object name.OID, format string, args ...any) {
		v.find(ContentsMismatch, string(object), fmt.Sprintf(format, args...))
	}
	if r.Snapshot.Tree != "" && r.Snapshot.Tree != f.commit.Tree {
		differ(f.oid, "its record names the tree %s, but its commit has the tree %s", r.Snapshot.Tree.Short(), f.commit.Tree.Short())
	}
	head := v.head()
	// An expunge may cut HEAD's commit off the checkpoint. The record then says so.
	if dropped := record.HeadDropped.IsIn(r.Git.Extra); r.Git.Head != head && !(dropped && head == "") {
		differ(f.oid, "its record was made at HEAD %s, but its commit at %s", orNone(r.Git.Head), orNone(head))
	}
	if index := f.tree.At(store.IndexPath).OID; r.Git.Index != index {
		differ(f.mOID, "its record names the index %s, but %s is kept", orNone(r.Git.Index), orNone(index))
	}
	// Whether there are any must agree. The names inside are in the record and are checked as
	// needs.
	for _, kept := range []struct {
		part, what string
		named      int
	}{
		{store.OutputsPath, "outputs", len(r.Outputs)}, {store.RawPath, "files kept byte for byte", len(r.Snapshot.Raw)}, {store.ConflictsPath, "unmerged files", len(r.Git.Unmerged)},
	} {
		if has := f.has(kept.part); has != (kept.named > 0) {
			differ(f.mOID, "its record names %d %s, but %s", kept.named, kept.what, map[bool]string{true: "some are kept", false: "none is kept"}[has])
		}
	}
}

// orNone returns the short id, or "none".
func orNone(oid name.OID) string {
	if oid == "" {
		return "none"
	}
	return oid.Short()
}

// needs returns the objects that must exist besides those that were read for the proof. Their
// existence is checked later, for many checkpoints at once.
func (f *facts) needs() (all []need) {
	add := func(oid name.OID, kind Kind, what string) {
		if oid != "" {
			all = append(all, need{oid, kind, what})
		}
	}
	add(f.commit.Tree, TreeMissing, "the tree of its files")
	if len(f.commit.Parents) == 2 {
		add(f.commit.Parents[0], HeadMissing, "the commit that HEAD was at")
	}
	add(f.tree.At(store.IndexPath).OID, TreeMissing, "the tree of what was staged")
	for _, part := range []string{store.OutputsPath, store.RawPath, store.ConflictsPath} {
		if f.has(part) {
			add(f.tree.At(part).OID, TreeMissing, "the tree "+part+"/ of its record commit")
		}
	}
	add(f.tree.At(store.FlagsPath).OID, BlobMissing, "the list of index flags")
	if f.record != nil {
		for output, o := range f.record.Outputs {
			add(o.OID, BlobMissing, fmt.Sprintf("its output %q", output))
		}
	}
	return all
}

// readNotes reads the notes that differ from their checkpoint's record, to see whose record they
// are.
func (j *judging) readNotes(ctx context.Context, some []subjectFacts) error {
	var odd []string
	for i := range some {
		f := some[i].own
		if f == nil || f.tree == nil {
			continue
		}
		if have := j.Notes.NoteOf(f.oid); have != "" && have != f.tree.At(store.RecordPath).OID {
			odd = append(odd, string(have))
		}
	}
	j.notes = map[name.OID]name.ID{}
	return j.batch.Prove(ctx, odd, record.MaxSize, func(i int, o git.Object, err error) error {
		if err == nil && o.Data != nil {
			if rec, kind, _ := parseRecord(o.Data); kind == "" {
				j.notes[name.OID(odd[i])] = rec.ID
			}
		}
		return nil
	})
}

// judgeNote compares the note of a checkpoint with its record. They are the same blob unless one
// was changed.
func (j *judging) judgeNote(v *Verdict, f *facts) {
	want := f.tree.At(store.RecordPath).OID
	if want == "" {
		return // without the record it is not known what the note should be
	}
	commit := v.Commit()
	have := j.Notes.NoteOf(commit)
	switch other := j.notes[have]; {
	case have == "" && j.Notes.hidden(commit):
		v.find(NoteUnreadable, string(commit), "its note is in a part of the notes that cannot be read")
	case have == "":
		v.find(NoteMissing, string(commit), "its note is missing")
	case have != want && other != "" && other != v.ID:
		v.find(NoteSwapped, string(have), fmt.Sprintf("its note is the record of %s", other))
	case have != want:
		v.find(NoteEdited, string(have), "its note was edited: it differs from the record")
	case j.Notes.twice[commit]:
		v.find(NoteTwice, string(commit), "its note is in the tree of notes more than once, and git shows them as one")
	}
}

// mayLag reports whether a tag is correct although it is not the derived one: if the commit of a
// step's newest checkpoint is missing, writers of tags use an older checkpoint of the step.
func (j *judging) mayLag(ref name.Ref, have name.OID) bool {
	// want is empty if no checkpoint should have this tag.
	want := j.derived[ref]
	if want == "" {
		return false
	}
	if !slices.ContainsFunc(j.looked, func(l subjectFacts) bool { return l.lacksCommit(want) }) {
		return false
	}
	return j.isOfStep(git.RefValue{Ref: ref, OID: have})
}
