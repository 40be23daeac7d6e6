package why

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/mapped"
)

// indexFile is in the directory that all worktrees share. It is derived: without it, it is made again.
const indexFile = "lines.idx"

// magic begins the file, and changes with its format.
const magic = "gcwhy02\n"

// Limits of the index. What lies beyond has no lines in it, so that nothing is claimed of it.
const (
	mostEntries = 4_000_000 // 80 MB
	mostIn      = 20_000    // lines of one difference
)

// index knows which line each checkpoint added. The file has the magic, the length of the head (8 bytes),
// the head as JSON, the points (points.go), the changes and the entries, each sorted, and a seal (seal.go).
type index struct {
	head
	changes []byte // changeSize each, by checkpoint and path
	entries []byte // entrySize each, by key

	byPath map[string]int32
	of     [][]int32 // by path: its changes, oldest first
}

// head is the beginning of the file.
type head struct {
	Sessions    []session
	Checkpoints []point  `json:"-"`
	Paths       [][]byte // as bytes: they need not be UTF-8
	Words       []string // of the points: commits, mail addresses, ids of worktrees
	Hash        int      // bytes of an object id
	Points      int
	Names       int // bytes of the IDs of all points
	Changes     int
	Entries     int
}

// session is one session, whose checkpoints stand together and in the order of its journal.
type session struct {
	Name        name.Session
	Tip         name.OID // of its journal when it was read
	From, To    int32    // the range of its checkpoints
	Incomplete  bool     `json:",omitempty"` // objects are missing
	OriginIn    name.Session
	OriginPoint name.ID
}

// A change is a path of a checkpoint's own difference: checkpoint, path, and the path that it was renamed
// from, or -1.
const changeSize = 12

// An entry is an added line: a key, which is a hash of the line without white space, 8 bytes; a hash of
// the whole line; a hash of the lines before and after it; and the change. 4 bytes each.
const entrySize = 20

// entry is one entry, decoded.
type entry struct {
	key            uint64
	exact, context uint32
	change         int32
}

// change is one change, decoded.
type change struct{ point, path, from int32 }

// hashOf returns a hash of a text.
func hashOf(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s)) //nolint:errcheck // it never fails
	// FNV leaves the high bits of short texts alike.
	x := h.Sum64()
	x ^= x >> 32
	x *= 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// bare removes white space.
func bare(line string) string {
	if !strings.ContainsAny(line, " \t\r\f\v") {
		return line
	}
	return strings.Join(strings.Fields(line), "")
}

// entryOf returns the entry of line i, without a change.
func (t text) entryOf(i int) entry {
	around := func(i int) string {
		if i < 0 || i >= len(t) {
			return "\n"
		}
		return bare(t[i])
	}
	return entry{key: hashOf(bare(t[i])), exact: uint32(hashOf(t[i])), context: uint32(hashOf(around(i-1) + "\n" + around(i+1)))} //nolint:gosec // a part of the hash
}

// at returns entry i.
func (x *index) at(i int) entry {
	b := x.entries[i*entrySize:]
	return entry{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:]), int32(binary.LittleEndian.Uint32(b[16:]))} //nolint:gosec // as written
}

// change returns change i.
func (x *index) change(i int32) change {
	b := x.changes[int(i)*changeSize:]
	part := func(n int) int32 { return int32(binary.LittleEndian.Uint32(b[n:])) } //nolint:gosec // as written
	return change{part(0), part(4), part(8)}
}

// with returns the range of entries that have a key.
func (x *index) with(key uint64) (from, to int) {
	find := func(key uint64, least int) int {
		low, high := least, x.Entries
		for low < high {
			mid := int(uint(low+high) >> 1)
			if binary.LittleEndian.Uint64(x.entries[mid*entrySize:]) < key {
				low = mid + 1
			} else {
				high = mid
			}
		}
		return low
	}
	from = find(key, 0)
	if key == ^uint64(0) {
		return from, x.Entries
	}
	return from, find(key+1, from)
}

// changesOf returns the changes of a path, oldest first within each session.
func (x *index) changesOf(path int32) []int32 {
	if x.of == nil {
		x.of = make([][]int32, len(x.Paths))
		for i := range int32(x.Changes) { //nolint:gosec // bounded by the size of the file
			p := x.change(i).path
			x.of[p] = append(x.of[p], i)
		}
	}
	return x.of[path]
}

// path returns the number of a path, or -1.
func (x *index) path(p string) int32 {
	if x.byPath == nil {
		x.byPath = make(map[string]int32, len(x.Paths))
		for i, p := range x.Paths {
			x.byPath[string(p)] = int32(i) //nolint:gosec // bounded by the size of the file
		}
	}
	if i, known := x.byPath[p]; known {
		return i
	}
	return -1
}

// encode returns the file without its seal.
func (x *index) encode() ([]byte, error) {
	ids, rows := x.encodePoints()
	h, err := json.Marshal(x.head)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(magic)+8+len(h)+len(ids)+len(rows)+len(x.changes)+len(x.entries)+sealSize)
	out = append(out, magic...)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(h)))
	for _, part := range [][]byte{h, ids, rows, x.changes, x.entries} {
		out = append(out, part...)
	}
	return out, nil
}

// decode reads what encode wrote. It returns nil for what is damaged or has another format.
func decode(data []byte) *index {
	const least = len(magic) + 8
	if len(data) < least || !bytes.HasPrefix(data, []byte(magic)) {
		return nil
	}
	x := &index{}
	n, rest := binary.LittleEndian.Uint64(data[len(magic):]), data[least:]
	if n > uint64(len(rest)) || json.Unmarshal(rest[:n], &x.head) != nil {
		return nil
	}
	rest = rest[n:]
	rows := x.Points * (x.Hash + rowSize)
	if min(x.Names, x.Points, x.Changes, x.Entries) < 0 || x.Hash != 20 && x.Hash != 32 || len(rest) != x.Names+rows+x.Changes*changeSize+x.Entries*entrySize {
		return nil
	}
	ids, rest := rest[:x.Names], rest[x.Names:]
	if !x.decodePoints(ids, rest[:rows]) {
		return nil
	}
	rest = rest[rows:]
	x.changes, x.entries = rest[:x.Changes*changeSize], rest[x.Changes*changeSize:]
	return x
}

// load maps the index of a repository; nil if there is none that can be used.
func load(r *git.Repo) *index {
	data, err := mapped.Path(filepath.Join(r.CommonDir, "checkpoint", indexFile))
	if err != nil {
		return nil
	}
	key, err := clearance.Key(r)
	if err != nil {
		return nil
	}
	if data, err = opened(data, key); err != nil {
		return nil
	}
	return decode(data)
}

// setEntries sorts and encodes entries.
func (x *index) setEntries(all []entry) {
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.change, b.change)) })
	x.Entries, x.entries = len(all), make([]byte, 0, len(all)*entrySize)
	for _, e := range all {
		x.entries = binary.LittleEndian.AppendUint64(x.entries, e.key)
		for _, part := range []uint32{e.exact, e.context, uint32(e.change)} { //nolint:gosec // read back as it was
			x.entries = binary.LittleEndian.AppendUint32(x.entries, part)
		}
	}
}

// addChange appends a change and returns its number.
func (x *index) addChange(c change) int32 {
	for _, part := range []int32{c.point, c.path, c.from} {
		x.changes = binary.LittleEndian.AppendUint32(x.changes, uint32(part)) //nolint:gosec // read back as it was
	}
	x.Changes++
	return int32(x.Changes - 1) //nolint:gosec // bounded by the number of paths
}

// addPath returns the number of a path, which it adds if it is new.
func (x *index) addPath(p string) int32 {
	i := x.path(p)
	if i < 0 {
		i = int32(len(x.Paths)) //nolint:gosec // bounded by the size of the file
		x.Paths, x.byPath[p] = append(x.Paths, []byte(p)), i
	}
	return i
}
