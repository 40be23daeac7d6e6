package git

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"git-checkpoint/internal/name"
)

// WriteTree encodes and writes one tree object.
func (r *Repo) WriteTree(ctx context.Context, entries []Entry) (name.OID, error) {
	for _, e := range entries {
		if len(e.OID) != 2*r.HashLen() {
			return "", fmt.Errorf("write tree: entry %q has the object id %q", e.Name, e.OID)
		}
	}
	data, err := EncodeTree(entries)
	if err != nil {
		return "", err
	}
	return r.WriteObject(ctx, "tree", data)
}

// EditTree writes the tree that base becomes when each path of edits is set to
// its entry, or removed where the entry is zero. Only directories on changed
// paths are read and written; a directory left empty disappears. An entry may be
// a whole tree. Setting a path replaces a file that was one of its parents, and a
// file replaces a whole directory. As in `git update-index`, removing a path means
// a file: where a directory is, it stays.
func (r *Repo) EditTree(ctx context.Context, base name.OID, edits map[string]Entry) (name.OID, error) {
	root := &editNode{}
	for p, e := range edits {
		root.add(p, e)
	}
	oid, err := r.writeEdited(ctx, base, root)
	if err == nil && oid == "" {
		return r.WriteTree(ctx, nil)
	}
	return oid, err
}

type editNode struct {
	own      *Entry // nil: this name itself is not edited
	children map[string]*editNode
}

func (n *editNode) add(p string, e Entry) {
	for _, part := range strings.Split(p, "/") {
		if n.children == nil {
			n.children = map[string]*editNode{}
		}
		if n.children[part] == nil {
			n.children[part] = &editNode{}
		}
		n = n.children[part]
	}
	n.own = &e
}

// sets reports whether anything below n is set rather than removed.
func (n *editNode) sets() bool {
	for _, c := range n.children {
		if c.own != nil && c.own.Mode != 0 || c.sets() {
			return true
		}
	}
	return false
}

// writeEdited gives "" for a directory that became empty.
func (r *Repo) writeEdited(ctx context.Context, base name.OID, n *editNode) (name.OID, error) {
	entries, err := r.ReadTree(ctx, base)
	if err != nil {
		return "", err
	}
	at := make(map[string]Entry, len(entries)+len(n.children))
	for _, e := range entries {
		at[e.Name] = e
	}
	names := make([]string, 0, len(n.children))
	for part := range n.children {
		names = append(names, part)
	}
	sort.Strings(names)
	for _, part := range names {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return "", fmt.Errorf("write tree: %q is no name for a tree entry", part)
		}
	}
	edited := make([]Entry, len(names))
	err = Each(len(names), func(i int) (err error) {
		edited[i], err = r.edited(ctx, at[names[i]], n.children[names[i]])
		return err
	})
	if err != nil {
		return "", err
	}
	for i, e := range edited {
		if e.Mode == 0 {
			delete(at, names[i])
			continue
		}
		e.Name = names[i]
		at[e.Name] = e
	}
	if len(at) == 0 {
		return "", nil
	}
	entries = entries[:0]
	for _, e := range at {
		entries = append(entries, e)
	}
	return r.WriteTree(ctx, entries)
}

// edited gives the entry that old becomes; zero when nothing is left.
func (r *Repo) edited(ctx context.Context, old Entry, n *editNode) (Entry, error) {
	if n.own != nil && n.own.Mode != 0 && !n.own.IsTree() {
		return *n.own, nil
	}
	if n.own != nil {
		if !old.IsTree() || n.own.IsTree() {
			old = *n.own
		}
	}
	if len(n.children) == 0 || !old.IsTree() && !n.sets() {
		return old, nil
	}
	sub := name.OID("")
	if old.IsTree() {
		sub = old.OID
	}
	oid, err := r.writeEdited(ctx, sub, n)
	if err != nil || oid == "" {
		return Entry{}, err
	}
	return Entry{Mode: ModeTree, OID: oid}, nil
}
