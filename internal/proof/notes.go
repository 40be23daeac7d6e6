package proof

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/store"
)

// maxFanout is how many levels of directories git's own notes have at most.
const maxFanout = 32

// maxNotes bounds a hostile tree of notes.
const maxNotes = 1 << 22

// Notes are the notes of checkpoints by the commit that they are on.
type Notes struct {
	Ref      name.OID
	Findings []Finding // about the notes as a whole

	on     map[name.OID]name.OID
	twice  map[name.OID]bool
	broken []string // beginnings of commit ids whose notes could not be read
}

// ReadNotes reads all notes. What is damaged hides only what is below it.
func ReadNotes(ctx context.Context, s *store.Store) (*Notes, error) {
	n := &Notes{on: map[name.OID]name.OID{}, twice: map[name.OID]bool{}}
	refs, err := s.Repo.Refs(ctx, string(name.NotesRef))
	if err != nil {
		return nil, err
	}
	for _, r := range refs {
		if r.Ref == name.NotesRef {
			n.Ref = r.OID
		}
	}
	if n.Ref == "" {
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
		var oids []string
		for _, d := range level {
			oids = append(oids, string(d.oid))
		}
		var next []directory
		var lock sync.Mutex
		err := s.Repo.ProveApart(ctx, oids, git.MaxObject, func(i int, o git.Object, err error) error {
			entries, err := treeOf(o, err, s.Repo.HashLen())
			lock.Lock()
			defer lock.Unlock()
			if err != nil {
				n.unreadable(level[i].oid, level[i].prefix, err)
				return nil
			}
			if count += len(entries); count > maxNotes {
				return fmt.Errorf("read notes: more than %d", maxNotes)
			}
			for _, e := range entries {
				if e.IsTree() && len(e.Name) == 2 {
					next = append(next, directory{e.OID, level[i].prefix + e.Name})
				} else if !e.IsTree() {
					n.add(level[i].prefix+e.Name, e.OID)
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

// root is the tree of the newest notes commit.
func (n *Notes) root(ctx context.Context, s *store.Store) (root name.OID, err error) {
	err = s.Repo.Batch().Prove(ctx, []string{string(n.Ref)}, git.MaxObject, func(_ int, o git.Object, err error) error {
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

func (n *Notes) unreadable(oid name.OID, prefix string, err error) {
	n.broken = append(n.broken, prefix)
	n.Findings = append(n.Findings, Finding{
		NotesUnreadable, string(oid), fmt.Sprintf("%s cannot be read: %v", name.NotesRef, err), hintOf(NotesUnreadable, ""),
	})
}

func (n *Notes) add(path string, blob name.OID) {
	commit, err := name.ParseOID(path)
	if err != nil {
		return // a note on something else
	}
	if n.on[commit] != "" {
		n.twice[commit] = true
	}
	n.on[commit] = blob
}

// hidden reports whether the note of a commit may be in a part that could not be read.
func (n *Notes) hidden(commit name.OID) bool {
	for _, prefix := range n.broken {
		if strings.HasPrefix(string(commit), prefix) {
			return true
		}
	}
	return false
}

// errWrongType is an object of another type than it has to be.
var errWrongType = errors.New("it is of another type")

// treeOf decodes a tree that was proven.
func treeOf(o git.Object, err error, hashLen int) ([]git.Entry, error) {
	switch {
	case err != nil:
		return nil, err
	case o.Type != "tree":
		return nil, fmt.Errorf("%w: a %s, not a tree", errWrongType, o.Type)
	}
	entries, err := git.ParseTree(o.Data, hashLen)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", git.ErrGarbled, err)
	}
	return entries, nil
}

// commitOf decodes a commit that was proven.
func commitOf(o git.Object, err error) (git.Commit, error) {
	switch {
	case err != nil:
		return git.Commit{}, err
	case o.Type != "commit":
		return git.Commit{}, fmt.Errorf("%w: a %s, not a commit", errWrongType, o.Type)
	}
	c, err := git.ParseCommit(o.OID, o.Data)
	if err != nil {
		return c, fmt.Errorf("%w: %w", git.ErrGarbled, err)
	}
	return c, nil
}

// Of is the note of a commit, "" when it has none that can be read.
func (n *Notes) Of(commit name.OID) name.OID { return n.on[commit] }
