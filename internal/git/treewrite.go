package git

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
)

// Write encodes and writes one tree object. It sorts entries in place.
func (t *Trees) Write(ctx context.Context, entries []Entry) (name.OID, error) {
	for _, e := range entries {
		if len(e.OID) != 2*t.at.HashLen() {
			return "", fmt.Errorf("write tree: entry %q has the object id %q", e.Name, e.OID)
		}
	}
	data, err := EncodeTree(entries)
	if err != nil {
		return "", err
	}
	return t.objects.Write(ctx, "tree", data)
}

// Edit writes the tree that results from base when each path of edits is set to its entry, or
// removed if the entry is zero. It returns the id of the new root. Only directories on changed
// paths are read and written, and a directory that becomes empty disappears.
//
// An entry may be a whole tree. Setting a path replaces a file that was one of its parents, and a
// file replaces a whole directory. As with `git update-index`, removing a path means a file: if a
// directory is there, it stays.
//
// Edits are first arranged as a tree of editNodes. writeEdited then applies it from the leaves up.
func (t *Trees) Edit(ctx context.Context, base name.OID, edits map[string]Entry) (name.OID, error) {
	root := &editNode{}
	for p, e := range edits {
		root.add(p, e)
	}
	oid, err := t.writeEdited(ctx, base, root)
	if err == nil && oid == "" {
		return t.Write(ctx, nil)
	}
	return oid, err
}

// editNode is one name in the tree of edits.
type editNode struct {
	own      *Entry // nil: the name itself is not edited, only something below it
	children map[string]*editNode
}

// add inserts an edit at the slash-separated path p.
func (n *editNode) add(p string, e Entry) {
	for part := range strings.SplitSeq(p, "/") {
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

// sets reports whether anything below n is set, and not only removed.
func (n *editNode) sets() bool {
	for _, c := range n.children {
		if c.own != nil && c.own.Mode != 0 || c.sets() {
			return true
		}
	}
	return false
}

// writeEdited applies the edits of n to the directory base and returns its new tree, or "" if it
// became empty. Subdirectories are written in parallel. Names that git refuses in a tree are an
// error.
func (t *Trees) writeEdited(ctx context.Context, base name.OID, n *editNode) (name.OID, error) {
	entries, err := t.Read(ctx, base)
	if err != nil {
		return "", err
	}
	at := gather.Map(entries, func(e Entry) (string, Entry) { return e.Name, e })
	// Sort the names, so that an error does not depend on the order of the map.
	names := slices.Sorted(maps.Keys(n.children))
	for _, part := range names {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return "", fmt.Errorf("write tree: %q is not a valid name for a tree entry", part)
		}
	}
	edited := make([]Entry, len(names))
	err = Each(len(names), func(i int) (err error) {
		edited[i], err = t.edited(ctx, at[names[i]], n.children[names[i]])
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
	return t.Write(ctx, slices.Collect(maps.Values(at)))
}

// edited returns the entry that old becomes; it is zero when nothing is left. An edit of the name
// itself comes before those below it. If there are only removals below a name that is not a
// directory, the entry stays as it is.
func (t *Trees) edited(ctx context.Context, old Entry, n *editNode) (Entry, error) {
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
	oid, err := t.writeEdited(ctx, sub, n)
	if err != nil || oid == "" {
		return Entry{}, err
	}
	return Entry{Mode: ModeTree, OID: oid}, nil
}
