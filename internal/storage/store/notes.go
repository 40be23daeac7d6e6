package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// notePath returns the path of a note in the notes tree. The fan-out is fixed (2/38, or 2/62
// digits), so that two clones write the same tree.
func notePath(commit name.OID) string { return string(commit[:2]) + "/" + string(commit[2:]) }

// writeNotes writes one notes commit with all notes that the change adds, mends and removes. It
// does not use `git notes`, which loses one of two concurrent writes; here the update of the ref is
// part of the transaction.
//
// Notes are derived data. If they are unreadable or a foreign ref is in their way, that causes a
// warning and does not stop the change.
func (a *attempt) writeNotes(ctx context.Context) error {
	changes := append([]NewNote(nil), a.change.Notes...)
	for _, c := range a.change.Create {
		changes = append(changes, NewNote{c.Commit, c.RecordBlob})
	}
	changes = append(changes, gather.List(a.removals, func(r Removal) NewNote { return NewNote{Commit: r.Commit} })...)
	if len(changes) == 0 {
		return nil
	}
	old, err := a.store.resolve(ctx, name.NotesRef)
	if err != nil {
		return err
	}
	if old == "" && a.checkConflicts {
		below, err := a.store.Repo.Refs.List(ctx, string(name.NotesRef)+"/")
		if err != nil {
			return err
		}
		if len(below) > 0 {
			a.result.Warnings = append(a.result.Warnings, fmt.Sprintf("notes were left out: a ref called %s is in the way", below[0].Ref))
			return nil
		}
	}
	tree, parents, err := a.notesNow(ctx, old)
	if err != nil {
		return err
	}
	readable, err := a.readableNotes(ctx, tree)
	if err != nil {
		return err
	}
	edited, err := a.editNotes(ctx, readable, changes)
	if err != nil {
		return err
	}
	// All notes are as they should be.
	if edited == tree && old != "" {
		return nil
	}
	if len(a.change.Remove) > 0 {
		parents = nil // the history would keep what was removed
	}
	author, committer := a.store.Repo.Commits.Identity(a.store.Now())
	c := git.Commit{Tree: edited, Parents: parents, Author: author, Committer: committer, Message: "checkpoint notes: " + string(a.session) + "\n"}
	oid, err := a.write(ctx, "commit", c.Encode())
	if err != nil {
		return err
	}
	a.updates = append(a.updates, git.Update{Ref: name.NotesRef, New: oid, Old: old})
	return nil
}

// notesNow returns the notes tree to edit and the parents of the next notes commit. If the notes
// cannot be read, it starts with an empty tree and a warning, because all notes can be written
// again from the records.
func (a *attempt) notesNow(ctx context.Context, ref name.OID) (tree name.OID, parents []name.OID, err error) {
	if ref == "" {
		return "", nil, nil
	}
	c, err := a.store.Repo.Commits.Read(ctx, string(ref))
	if err == nil {
		_, err = a.store.Repo.Trees.Read(ctx, c.Tree)
	}
	if err == nil {
		return c.Tree, []name.OID{ref}, nil
	}
	if ctx.Err() != nil {
		return "", nil, context.Cause(ctx)
	}
	if err := a.unlessTaken(err); errors.Is(err, git.ErrRaced) {
		return "", nil, err
	}
	a.lostNotes(err)
	return "", nil, nil
}

// readableNotes returns the notes tree without Change.LostNotes.
func (a *attempt) readableNotes(ctx context.Context, tree name.OID) (name.OID, error) {
	if tree == "" || len(a.change.LostNotes) == 0 {
		return tree, nil
	}
	entries, err := a.store.Repo.Trees.Read(ctx, tree)
	if err != nil {
		return "", fmt.Errorf("read notes: %w", err)
	}
	return a.store.Repo.Trees.Write(ctx, slices.DeleteFunc(entries, func(e git.Entry) bool { return slices.Contains(a.change.LostNotes, e.OID) }))
}

// lostNotes adds the warning about unreadable notes.
func (a *attempt) lostNotes(err error) {
	a.result.Warnings = append(a.result.Warnings, fmt.Sprintf(
		"the notes in %s could not be read, so new ones were started; `git checkpoint rebuild --all` writes the old ones again (%v)", name.NotesRef, err))
}

// editNotes applies the changes to the notes tree. It removes all forms of a note (other fan-outs)
// and writes ours. If a part of the tree cannot be read, it starts again with an empty tree.
func (a *attempt) editNotes(ctx context.Context, tree name.OID, changes []NewNote) (name.OID, error) {
	edits := make(map[string]git.Entry, len(changes))
	for _, n := range changes {
		if n.Commit == "" {
			continue
		}
		forms, err := a.store.noteForms(ctx, tree, n.Commit)
		if err != nil {
			if ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			a.lostNotes(err)
			return a.editNotes(ctx, "", changes)
		}
		// Remove every form. If the note stays, the edit of its own path below replaces the
		// removal.
		for _, f := range forms {
			edits[f.Path] = git.Entry{}
		}
		if n.RecordBlob != "" {
			edits[notePath(n.Commit)] = git.Entry{Mode: git.ModeFile, OID: n.RecordBlob}
		}
	}
	if len(edits) == 0 && tree != "" {
		return tree, nil
	}
	edited, err := a.store.Repo.Trees.Edit(ctx, tree, edits)
	if err != nil {
		return "", fmt.Errorf("write notes: %w", err)
	}
	return edited, a.rememberTrees(ctx, edited, edits)
}

// rememberTrees adds the trees that Trees.Edit wrote to the objects that verify checks. Trees.Edit does
// not go through attempt.write.
func (a *attempt) rememberTrees(ctx context.Context, root name.OID, edits map[string]git.Entry) error {
	entries, err := a.store.Repo.Trees.Read(ctx, root)
	if err != nil {
		return fmt.Errorf("write notes: %w", err)
	}
	touched := map[string]bool{}
	for p := range edits {
		dir, _, _ := strings.Cut(p, "/")
		touched[dir] = true
	}
	a.change.Verify = append(a.change.Verify[:len(a.change.Verify):len(a.change.Verify)], root)
	for _, e := range entries {
		if e.IsTree() && touched[e.Name] {
			a.change.Verify = append(a.change.Verify, e.OID)
		}
	}
	return nil
}

// noteForms returns all notes of a commit, at any depth of fan-out. In each Change, New is the
// entry.
func (s *Store) noteForms(ctx context.Context, tree, commit name.OID) ([]git.Change, error) {
	const maxFanout = 31 // limits the search for other forms of a note. The fan-out of git never has more levels than an id has bytes
	var out []git.Change
	dir, rest := "", string(commit)
	for range maxFanout {
		if tree.IsZero() {
			break
		}
		entries, err := s.Repo.Trees.Read(ctx, tree)
		if err != nil {
			return nil, err
		}
		tree = ""
		for _, e := range entries {
			switch {
			case e.Name == rest && !e.IsTree():
				out = append(out, git.Change{Path: dir + rest, New: e})
			case e.IsTree() && len(rest) > 2 && e.Name == rest[:2]:
				tree = e.OID
			}
		}
		if len(rest) <= 2 {
			break
		}
		dir, rest = dir+rest[:2]+"/", rest[2:]
	}
	return out, nil
}
