package git

import (
	"bytes"
	"encoding/hex"
	"sort"
	"strconv"
	"strings"

	"git-checkpoint/internal/name"
)

// Recall rebuilds tree objects from an index, so that the object reader does not have to read them.
// It covers the directories that contain the given paths, as far as the cache tree of the index
// (the TREE extension) is valid for them. entries must be all entries of ix.
//
// A rebuilt tree is remembered only if it has the id that the cache tree says. So a wrong index
// costs time, but never gives a wrong tree.
func (r *Repo) Recall(ix *Index, entries []IndexEntry, paths map[string]Entry) {
	if len(ix.trees) == 0 || len(entries) != ix.Count {
		return
	}
	root := wantedDirectories(paths)
	d := &cacheTree{data: ix.trees, hashLen: ix.hashLen}
	if !d.read(root, 0) {
		return
	}
	r.recall(ix, entries, "", root)
}

// cached is a directory in the cache tree of an index.
type cached struct {
	oid      name.OID // empty: invalid, something in it was staged later
	count    int      // number of index entries in it
	text     []byte   // its encoded cache entry, with those of everything below it
	wanted   bool     // a path of interest is in it
	children map[string]*cached
}

// wantedDirectories returns a tree of the directories that contain paths, as keys of a map.
func wantedDirectories[T any](paths map[string]T) *cached {
	root := &cached{wanted: true}
	for p := range paths {
		n := root
		for dir, rest, below := strings.Cut(p, "/"); below; dir, rest, below = strings.Cut(rest, "/") {
			if n.children == nil {
				n.children = map[string]*cached{}
			}
			if n.children[dir] == nil {
				n.children[dir] = &cached{wanted: true}
			}
			n = n.children[dir]
		}
	}
	return root
}

// recall encodes the tree of the directory prefix, whose index entries are entries, and those of
// the wanted directories below it. Entries are sorted by path, so those of one subdirectory stand
// together; a binary search finds their end.
func (r *Repo) recall(ix *Index, entries []IndexEntry, prefix string, n *cached) {
	var tree []Entry
	whole := n.oid != ""
	for i := 0; i < len(entries); {
		rest := entries[i].Path[len(prefix):]
		part, _, below := strings.Cut(rest, "/")
		if !below {
			tree = append(tree, Entry{Mode: entries[i].Mode, Name: part, OID: ix.oidAt(entries[i].oidAt)})
			i++
			continue
		}
		sub := entries[i].Path[:len(prefix)+len(part)+1]
		end := i + sort.Search(len(entries)-i, func(k int) bool { return !strings.HasPrefix(entries[i+k].Path, sub) })
		c := n.children[part]
		if c == nil || c.oid == "" {
			whole = false
		} else {
			tree = append(tree, Entry{Mode: ModeTree, Name: part, OID: c.oid})
		}
		if c != nil && c.wanted {
			r.recall(ix, entries[i:end], sub, c)
		}
		i = end
	}
	// A subdirectory is invalid, so the id of this tree is not known. Valid ones below were handled
	// above.
	if !whole {
		return
	}
	data, err := EncodeTree(tree)
	if err == nil && HashObject(r.Format, "tree", data) == n.oid {
		r.Batch().keep(Object{n.oid, "tree", int64(len(data)), data})
	}
}

// maxCacheDepth limits the recursion in a cache tree, because the file may be damaged.
const maxCacheDepth = 4096

// cacheTree decodes the TREE extension of an index. Each directory is its name and a NUL, the
// number of its index entries (-1: invalid) and of its subdirectories in decimal, a newline, its id
// unless it is invalid, and then its subdirectories in the same form.
type cacheTree struct {
	data    []byte // what has not been decoded yet
	hashLen int
}

// read decodes one directory into n. If n is nil, nobody asks for that directory, and it is
// skipped. It returns false when the data is damaged.
func (t *cacheTree) read(n *cached, depth int) bool {
	start := t.data
	end := bytes.IndexByte(t.data, 0)
	if end < 0 || depth > maxCacheDepth {
		return false
	}
	t.data = t.data[end+1:]
	line, rest, ok := bytes.Cut(t.data, []byte{'\n'})
	a, b, ok2 := bytes.Cut(line, []byte{' '})
	count, err := strconv.Atoi(string(a))
	subtrees, err2 := strconv.Atoi(string(b))
	if !ok || !ok2 || err != nil || err2 != nil || subtrees < 0 {
		return false
	}
	t.data = rest
	if count >= 0 {
		if len(t.data) < t.hashLen {
			return false
		}
		if n != nil {
			n.oid, n.count = name.OID(hex.EncodeToString(t.data[:t.hashLen])), count
		}
		t.data = t.data[t.hashLen:]
	}
	for range subtrees {
		end := bytes.IndexByte(t.data, 0)
		if end < 0 {
			return false
		}
		var c *cached
		if n != nil && n.wanted {
			if n.children == nil {
				n.children = map[string]*cached{}
			}
			if c = n.children[string(t.data[:end])]; c == nil {
				c = &cached{}
				n.children[string(t.data[:end])] = c
			}
		}
		if !t.read(c, depth+1) {
			return false
		}
	}
	if n != nil {
		n.text = start[:len(start)-len(t.data)]
	}
	return true
}
