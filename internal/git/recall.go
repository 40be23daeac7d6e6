package git

import (
	"bytes"
	"encoding/hex"
	"sort"
	"strconv"
	"strings"

	"git-checkpoint/internal/name"
)

// Recall makes known the trees that an index stands for, as far as its cache of trees
// is valid, of the directories that paths are in: they need not be read. entries are
// those of the index. What does not have the id that the cache says is forgotten.
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

// cached is a directory in an index's cache of trees.
type cached struct {
	oid      name.OID // empty: not valid
	count    int      // of entries in the index
	text     []byte   // as the cache has it, with what is below
	wanted   bool
	children map[string]*cached
}

// wantedDirectories are those that paths are in.
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

// recall encodes the tree of a directory and of the wanted ones below it.
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
	if !whole {
		return
	}
	data, err := EncodeTree(tree)
	if err == nil && HashObject(r.Format, "tree", data) == n.oid {
		r.Batch().keep(Object{n.oid, "tree", int64(len(data)), data})
	}
}

// maxCacheDepth bounds how deep a cache of trees is followed.
const maxCacheDepth = 4096

// cacheTree reads the extension TREE: of each directory its name and a NUL, how many
// entries (-1: not valid) and subdirectories it has, the id where it is valid, and its
// subdirectories in turn.
type cacheTree struct {
	data    []byte
	hashLen int
}

// read reads one directory into n, nil when nobody asks for it.
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
