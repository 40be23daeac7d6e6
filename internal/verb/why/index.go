package why

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"hash/fnv"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/mapped"
)

// indexFile is in the directory that all worktrees share. It is derived: without it, it is made again.
const indexFile = "lines.idx"

// magic begins the file, and changes with its format.
const magic = "gcwhy07\n"

// Limits of the index. Lines beyond them are not indexed, so no claim is made about them.
const (
	mostEntries = 4_000_000 // 40 MB
	mostChanges = 1 << 20   // an entry has three bytes for the number of one
	mostIn      = 20_000    // lines, and paths, of one difference
)

// index holds which lines each checkpoint added. The file has the magic, the length of the head (8
// bytes), the head, which is all that has names in capitals, the entries, and a seal (seal.go). Only what
// has the seal is read, so what it says fits together.
type index struct {
	Sessions    []session
	Checkpoints []point
	Paths       [][]byte // as bytes: they need not be UTF-8
	Changes     []change // by checkpoint and path
	Entries     int
	entries     []byte // entrySize each, by key

	lacks   map[name.OID]bool // what a partial clone could not fetch
	byPath  map[string]int32
	numbers map[place]int32
	of      []map[int32]int32 // by path: its changes, by checkpoint
}

// point is a checkpoint that is not dead.
type point struct {
	ID       name.ID
	Tree     name.OID // empty: it is missing
	Head     name.OID // HEAD when it was made; may be empty
	At       int64    // seconds since 1970
	Person   string   // its author, as personOf has them
	Worktree string   // id of the worktree
	Base     int32    // the checkpoint before in its session; -1: none
	Via      int32    // the one of another session that it has its files from; -1: none
}

// base returns the checkpoint that the difference of another one starts from; -1: it starts from HEAD.
func (x *index) base(i int32) int32 {
	p := &x.Checkpoints[i]
	if p.Via >= 0 {
		return p.Via
	}
	return p.Base
}

// session is one session, whose checkpoints stand together and in the order of its journal.
type session struct {
	Name        name.Session
	Tip         name.OID // of its journal when it was read
	From, To    int32    // the range of its checkpoints
	Incomplete  bool     // objects are missing
	OriginIn    name.Session
	OriginPoint name.ID
}

// An entry is an added line: a key, which is a hash of the line without white space, 4 bytes; a hash of the
// whole line, 2 bytes, and of the lines before and after it, 1 byte; and the number of the change, 3 bytes. A hash
// only leads to a file, in which the line is looked for, so it may be short.
const entrySize = 10

// entry is one entry, decoded.
type entry struct {
	key     uint32
	exact   uint16
	context uint8
	change  int32
}

// change is a path of a checkpoint's own difference: checkpoint, path, and the path that it was renamed from,
// or -1.
type change struct{ Point, Path, From int32 }

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
	return entry{key: uint32(hashOf(bare(t[i])) >> 32), exact: uint16(hashOf(t[i])), context: uint8(hashOf(around(i-1) + "\n" + around(i+1)))} //nolint:gosec // a part of the hash
}

// at returns entry i.
func (x *index) at(i int) entry {
	b := x.entries[i*entrySize:]
	return entry{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint16(b[4:]), b[6], int32(b[7]) | int32(b[8])<<8 | int32(b[9])<<16}
}

// rangeOf returns the range of entries that have a key.
func (x *index) rangeOf(key uint32) (from, to int) {
	find := func(key uint64, least int) int {
		return least + sort.Search(x.Entries-least, func(i int) bool {
			return uint64(binary.LittleEndian.Uint32(x.entries[(least+i)*entrySize:])) >= key
		})
	}
	from = find(uint64(key), 0)
	return from, find(uint64(key)+1, from)
}

// pointOf returns the checkpoint that added the line of an entry.
func (x *index) pointOf(e entry) int32 { return x.Changes[e.change].Point }

// forkedBefore reports whether a session is an attempt that began before a promotion, by the order of the journal: clocks go back.
func (x *index) forkedBefore(attempt *session, promotion int32) bool {
	return attempt.OriginIn == x.sessionOf(promotion).Name && x.numbered(attempt.OriginIn, attempt.OriginPoint) < promotion
}

// sessionAt returns the number of a checkpoint's session.
func (x *index) sessionAt(point int32) int {
	return sort.Search(len(x.Sessions), func(n int) bool { return point < x.Sessions[n].To })
}

// sessionOf returns the session of a checkpoint.
func (x *index) sessionOf(point int32) *session { return &x.Sessions[x.sessionAt(point)] }

// sessionNamed returns a session, or nil.
func (x *index) sessionNamed(of name.Session) *session {
	if i := slices.IndexFunc(x.Sessions, func(s session) bool { return s.Name == of }); i >= 0 {
		return &x.Sessions[i]
	}
	return nil
}

// place identifies a checkpoint.
type place struct {
	session name.Session
	id      name.ID
}

// numbered returns the number of a checkpoint, or -1.
func (x *index) numbered(of name.Session, id name.ID) int32 {
	if x.numbers == nil {
		x.numbers = map[place]int32{}
		for _, in := range x.Sessions {
			for i := in.From; i < in.To; i++ {
				x.numbers[place{in.Name, x.Checkpoints[i].ID}] = i
			}
		}
	}
	if i, known := x.numbers[place{of, id}]; known {
		return i
	}
	return -1
}

// pointsOf returns the checkpoints of a session.
func (x *index) pointsOf(of *session) []point { return x.Checkpoints[of.From:of.To] }

// begins returns the time of the first checkpoint, in seconds since 1970; 0: there is none.
func (x *index) begins() int64 {
	if len(x.Checkpoints) == 0 {
		return 0
	}
	return slices.MinFunc(x.Checkpoints, func(a, b point) int { return cmp.Compare(a.At, b.At) }).At
}

// changesOf returns the changes of a path, by checkpoint.
func (x *index) changesOf(path int32) map[int32]int32 {
	if x.of == nil {
		x.of = make([]map[int32]int32, len(x.Paths))
		for i, c := range x.Changes {
			if x.of[c.Path] == nil {
				x.of[c.Path] = map[int32]int32{}
			}
			x.of[c.Path][c.Point] = int32(i) //nolint:gosec // at most mostChanges
		}
	}
	if path < 0 {
		return nil
	}
	return x.of[path]
}

// pathOf returns the path with a number; "" for -1.
func (x *index) pathOf(i int32) string {
	if i < 0 {
		return ""
	}
	return string(x.Paths[i])
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
	var head bytes.Buffer
	packed, err := flate.NewWriter(&head, flate.BestSpeed)
	if err == nil {
		err = errors.Join(gob.NewEncoder(packed).Encode(x), packed.Close())
	}
	out := make([]byte, 0, len(magic)+8+head.Len()+len(x.entries)+sealSize)
	out = binary.LittleEndian.AppendUint64(append(out, magic...), uint64(head.Len()))
	return append(append(out, head.Bytes()...), x.entries...), err
}

// decode reads what encode wrote. It returns nil for what is damaged or has another format.
func decode(data []byte) *index {
	rest, own := bytes.CutPrefix(data, []byte(magic))
	if !own || len(rest) < 8 {
		return nil
	}
	x, n := &index{}, binary.LittleEndian.Uint64(rest)
	if rest = rest[8:]; n > uint64(len(rest)) || gob.NewDecoder(flate.NewReader(bytes.NewReader(rest[:n]))).Decode(x) != nil {
		return nil
	}
	if x.entries = rest[n:]; len(x.entries) != x.Entries*entrySize {
		return nil
	}
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

// setEntries sorts and encodes entries. Equal ones count once: a change that adds many lines such as "}".
func (x *index) setEntries(all []entry) {
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.change, b.change), cmp.Compare(a.exact, b.exact), cmp.Compare(a.context, b.context))
	})
	all = slices.Compact(all)
	x.Entries, x.entries = len(all), make([]byte, 0, len(all)*entrySize)
	for _, e := range all {
		x.entries = binary.LittleEndian.AppendUint32(x.entries, e.key)
		x.entries = binary.LittleEndian.AppendUint16(x.entries, e.exact)
		x.entries = append(x.entries, e.context, byte(e.change), byte(e.change>>8), byte(e.change>>16)) //nolint:gosec // its parts
	}
}

// addChange appends a change of a path, which was renamed from another one unless that is "", and returns its
// number.
func (x *index) addChange(point int32, path, from string) int32 {
	c := change{point, x.addPath(path), -1}
	if from != "" {
		c.From = x.addPath(from)
	}
	x.Changes = append(x.Changes, c)
	return int32(len(x.Changes) - 1) //nolint:gosec // at most mostChanges
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
