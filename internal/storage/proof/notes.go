package proof

// This file reads the notes tree. git spreads many notes over directories named by the first digits
// of commit ids (fanout), so that the path of a note without its slashes is the id of the commit.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// Notes holds all notes of refs/notes/checkpoints, by the commit that they are on.
type Notes struct {
	Ref      name.OID  // the notes commit; empty: there is none
	Findings []Finding // about the notes as a whole

	on     map[name.OID]name.OID // the blob of each note, by commit
	twice  map[name.OID]bool     // commits with several notes
	broken []string              // prefixes of commit ids whose notes could not be read
}

// readNotes reads all notes of the notes commit ref. For "" there are none. A damaged directory
// hides the notes below it only.
func readNotes(ctx context.Context, s *store.Store, ref name.OID) (*Notes, error) {
	const maxFanout = 32     // the most levels of directories in a tree of notes. git uses a few; a hostile tree may have more
	const maxNotes = 1 << 22 // the most notes that are read from a hostile tree
	n := &Notes{Ref: ref, on: map[name.OID]name.OID{}, twice: map[name.OID]bool{}}
	if ref == "" {
		return n, nil
	}
	root, err := n.root(ctx, s)
	if err != nil || root == "" {
		return n, err
	}
	type directory struct {
		oid    name.OID
		prefix string
	}
	count := 0
	for level, depth := []directory{{root, ""}}, 0; len(level) > 0 && depth < maxFanout; depth++ {
		oids := gather.List(level, func(d directory) string { return string(d.oid) })
		var next []directory
		var lock sync.Mutex
		err := s.Repo.Objects.ProveInParallel(ctx, oids, git.MaxObject, func(i int, o git.Object, err error) error {
			lock.Lock()
			defer lock.Unlock()
			at := level[i]
			entries, err := treeOf(o, err, s.Repo.HashLen())
			if err != nil {
				n.unreadable(at.oid, at.prefix, err)
				return nil
			}
			if count += len(entries); count > maxNotes {
				return fmt.Errorf("read notes: more than %d", maxNotes)
			}
			for _, e := range entries {
				switch {
				case !e.IsTree():
					n.add(at.prefix+e.Name, e.OID)
				// A directory of the fanout has two digits. Others hold no notes.
				case len(e.Name) == 2:
					next = append(next, directory{e.OID, at.prefix + e.Name})
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		level = next
	}
	return n, nil
}

// root returns the tree of the notes commit, or "" if that cannot be read.
func (n *Notes) root(ctx context.Context, s *store.Store) (root name.OID, err error) {
	err = s.Repo.Objects.Batch().Prove(ctx, []string{string(n.Ref)}, git.MaxObject, func(_ int, o git.Object, err error) error {
		c, err := commitOf(o, err)
		if err != nil {
			n.unreadable(n.Ref, "", err)
			return nil
		}
		root = c.Tree
		return nil
	})
	return root, err
}

// unreadable notes that the notes below a prefix could not be read.
func (n *Notes) unreadable(oid name.OID, prefix string, err error) {
	n.broken = append(n.broken, prefix)
	n.Findings = append(n.Findings, Violated(NotesUnreadable, string(oid), fmt.Sprintf("%s cannot be read: %v", name.NotesRef, err)))
}

// add adds one note. The path without slashes is the id of the commit. If it is not an id, the note
// is on something else.
func (n *Notes) add(path string, blob name.OID) {
	commit, err := name.ParseOID(path)
	if err != nil || len(commit) != len(blob) {
		return
	}
	if n.on[commit] != "" {
		n.twice[commit] = true
	}
	n.on[commit] = blob
}

// hidden reports whether the note of a commit may be in a part that could not be read.
func (n *Notes) hidden(commit name.OID) bool {
	return slices.ContainsFunc(n.broken, func(prefix string) bool { return strings.HasPrefix(string(commit), prefix) })
}

// errWrongType says that an object does not have the type that it must have.
var errWrongType = errors.New("it has another type")

// ofType returns err, or an error if the object has another type.
func ofType(o git.Object, err error, typ string) error {
	if err == nil && o.Type != typ {
		return fmt.Errorf("%w: a %s, not a %s", errWrongType, o.Type, typ)
	}
	return err
}

// treeOf decodes a tree that was proven.
func treeOf(o git.Object, err error, hashLen int) ([]git.Entry, error) {
	if err := ofType(o, err, "tree"); err != nil {
		return nil, err
	}
	entries, err := git.ParseTree(o.Data, hashLen)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", git.ErrGarbled, err)
	}
	return entries, nil
}

// commitOf decodes a commit that was proven.
func commitOf(o git.Object, err error) (git.Commit, error) {
	if err := ofType(o, err, "commit"); err != nil {
		return git.Commit{}, err
	}
	c, err := git.ParseCommit(o.OID, o.Data)
	if err != nil {
		return c, fmt.Errorf("%w: %w", git.ErrGarbled, err)
	}
	return c, nil
}

// NoteOf returns the note of a commit, or "" if it has none that could be read.
func (n *Notes) NoteOf(commit name.OID) name.OID { return n.on[commit] }
