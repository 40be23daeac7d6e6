package git

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/internal/odb"
)

// FileStat is what an index stores about a file to detect changes. The zero value matches no file,
// so that git compares the content.
type FileStat struct {
	CtimeSec, CtimeNsec, MtimeSec, MtimeNsec, Dev, Inode, UID, GID, Size uint32
}

// IndexEdit is the new entry of one path of an index. If the mode is 0, the path is removed.
type IndexEdit struct {
	Entry Entry
	Stat  FileStat
}

// Editable reports whether EditIndex can edit this index: it must be complete, all entries must be
// at stage 0 and without flags, and it must not have extensions that would be lost.
func (ix *Index) Editable() bool {
	return !ix.Split && !ix.Sparse && !ix.Flagged && !ix.further && ix.Count > 0
}

// OIDOf returns the id of an entry that Entries returned. Formatting the ids of a hundred thousand entries takes
// longer than reading the entries.
func (ix *Index) OIDOf(e IndexEntry) name.OID { return ix.oidAt(e.oidAt) }

// EditIndex returns the content of an index file that differs from ix at the paths of edits. tree
// is the tree that these entries make up; it becomes the root of the cache tree. ix must be
// Editable, and its version is kept.
//
// It merges the sorted entries of ix with the sorted edits, and copies the bytes of entries that do
// not change. That is much faster than `git update-index`, and it does not read the worktree.
func (c *Checkout) EditIndex(ctx context.Context, ix *Index, edits map[string]IndexEdit, tree name.OID) ([]byte, error) {
	w := &indexWriter{version: ix.Version, hashLen: ix.hashLen}
	w.out = append(make([]byte, 0, len(ix.data)+len(edits)*128+1024), ix.data[:12]...)
	paths := slices.Sorted(maps.Keys(edits))
	err := ix.each(func(e *IndexEntry, h span) error {
		for len(paths) > 0 && paths[0] < e.Path {
			w.edit(paths[0], edits[paths[0]])
			paths = paths[1:]
		}
		if len(paths) > 0 && paths[0] == e.Path {
			return nil // its edit is written before the next entry, or at the end
		}
		w.add(ix.data[h.start:h.oid+ix.hashLen], e.Path)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		w.edit(p, edits[p])
	}
	binary.BigEndian.PutUint32(w.out[8:], uint32(w.count))
	// The cache tree is optional, but without it the user's next commit would have to hash all
	// directories again.
	cache := ix.trees
	if tree != ix.Tree {
		if cache, err = c.cacheOf(ctx, ix, edits, tree); err != nil {
			return nil, err
		}
	}
	w.out = append(w.out, "TREE"...)
	w.out = binary.BigEndian.AppendUint32(w.out, uint32(len(cache)))
	w.out = append(w.out, cache...)
	h := odb.NewHash(c.at.Format == "sha256")
	h.Write(w.out) //nolint:errcheck // never fails
	return h.Sum(w.out), nil
}

// indexWriter appends encoded entries, which must come in the order of their paths.
type indexWriter struct {
	out              []byte
	version, hashLen int
	count            int
	last             string // path of the last entry, for the prefix compression of version 4
}

// edit writes the new entry of a path, or nothing if the path is removed.
func (w *indexWriter) edit(path string, e IndexEdit) {
	if e.Entry.Mode == 0 {
		return
	}
	s, head := e.Stat, make([]byte, 0, entryHeader+w.hashLen)
	for _, v := range []uint32{s.CtimeSec, s.CtimeNsec, s.MtimeSec, s.MtimeNsec, s.Dev, s.Inode, uint32(e.Entry.Mode), s.UID, s.GID, s.Size} {
		head = binary.BigEndian.AppendUint32(head, v)
	}
	oid, _ := hex.DecodeString(string(e.Entry.OID)) //nolint:errcheck // an id is hexadecimal
	w.add(append(head, oid...), path)
}

// add writes an entry. head is the part of it up to the end of the id; the flags, which hold only
// the length of the path, and the path follow.
func (w *indexWriter) add(head []byte, path string) {
	start := len(w.out)
	w.out = append(w.out, head...)
	w.out = binary.BigEndian.AppendUint16(w.out, uint16(min(len(path), 0xfff)))
	if w.version == 4 {
		common := 0
		for common < min(len(path), len(w.last)) && path[common] == w.last[common] {
			common++
		}
		w.out = appendOffsetVarint(w.out, len(w.last)-common)
		w.out = append(append(w.out, path[common:]...), 0)
	} else {
		w.out = append(w.out, path...)
		w.out = append(w.out, make([]byte, 8-(len(w.out)-start)%8)...)
	}
	w.last = path
	w.count++
}

// appendOffsetVarint is the inverse of odb.Distance.
func appendOffsetVarint(out []byte, n int) []byte {
	var b [10]byte
	at := len(b) - 1
	b[at] = byte(n & 0x7f)
	for n >>= 7; n > 0; n >>= 7 {
		n--
		at--
		b[at] = 0x80 | byte(n&0x7f)
	}
	return append(out, b[at:]...)
}

// cacheOf encodes the TREE extension for another tree. It copies what ix has for the directories
// that stay the same, and reads only the trees of the others.
func (c *Checkout) cacheOf(ctx context.Context, ix *Index, edits map[string]IndexEdit, tree name.OID) ([]byte, error) {
	old := wantedDirectories(edits)
	if d := (&cacheTree{data: ix.trees, hashLen: ix.hashLen}); !d.read(old, 0) {
		old = nil
	}
	var out []byte
	_, err := c.encodeCache(ctx, &out, "", tree, old)
	return out, err
}

// encodeCache appends the cache entries of a directory and of everything below it. old is what the
// previous cache has for it, or nil. It returns how many index entries the directory contains.
func (c *Checkout) encodeCache(ctx context.Context, out *[]byte, dir string, tree name.OID, old *cached) (int, error) {
	if old != nil && old.oid == tree {
		*out = append(*out, old.text...)
		return old.count, nil
	}
	entries, err := c.trees.Read(ctx, tree)
	if err != nil {
		return 0, err
	}
	var below []byte
	subtrees, count := 0, 0
	// In the cache tree, git orders subdirectories by the length of their names first.
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(len(a.Name)-len(b.Name), strings.Compare(a.Name, b.Name))
	})
	for _, e := range entries {
		if e.Mode != ModeTree {
			count++
			continue
		}
		var known *cached
		if old != nil {
			known = old.children[e.Name]
		}
		n, err := c.encodeCache(ctx, &below, e.Name, e.OID, known)
		if err != nil {
			return 0, err
		}
		subtrees, count = subtrees+1, count+n
	}
	*out = fmt.Appendf(*out, "%s\x00%d %d\n", dir, count, subtrees)
	oid, _ := hex.DecodeString(string(tree)) //nolint:errcheck // an id is hexadecimal
	*out = append(append(*out, oid...), below...)
	return count, nil
}

// cached is a directory in the cache tree of an index.
type cached struct {
	oid      name.OID // empty: invalid, something in it was staged later
	count    int      // number of index entries in it
	text     []byte   // its encoded cache entry, with those of everything below it
	wanted   bool     // a path of interest is in it
	children map[string]*cached
}

// wantedDirectories returns a tree of the directories that contain edited paths.
func wantedDirectories(edits map[string]IndexEdit) *cached {
	root := &cached{wanted: true}
	for p := range edits {
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
	const maxCacheDepth = 4096 // limits the recursion in a cache tree, because the file may be damaged
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
