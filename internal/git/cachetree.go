package git

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"

	"git-checkpoint/internal/name"
)

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
