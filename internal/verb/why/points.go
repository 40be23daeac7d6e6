package why

import (
	"encoding/binary"
	"encoding/hex"
	"math"

	"git-checkpoint/internal/format/name"
)

// point is a checkpoint that is not dead.
type point struct {
	ID       name.ID
	Tree     name.OID // empty: it is missing
	Head     name.OID // HEAD when it was made; may be empty
	At       int64    // seconds since 1970
	Person   string   // its author, as personOf has them
	Worktree string   // id of the worktree
	Promoted bool     // it has the files of an attempt
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

// A point and a change are written as signed numbers of variable length (encoding/binary), most of them as the
// difference to the one before, because 10,000 points are read at each start. A point has: how many bytes of its
// ID are those of the ID before, the number of its other bytes and these; the tree, of Hash bytes, or zeros; the time;
// the numbers of HEAD, person and worktree in Words; the base; and 2*via + 1 if it is promoted. A change has the
// three numbers of type change.

// encodePoints returns the points. It sets the parts of the head that they need.
func (x *index) encodePoints() (out []byte) {
	numbers := map[string]int64{}
	number := func(word string) int64 {
		n, known := numbers[word]
		if !known {
			n = int64(len(x.Words))
			numbers[word], x.Words = n, append(x.Words, word)
		}
		return n
	}
	x.Words, x.Hash, x.Points = nil, 20, len(x.Checkpoints)
	for i := range x.Checkpoints {
		if len(x.Checkpoints[i].Tree) == 64 {
			x.Hash = 32
		}
	}
	var before point
	for i, p := range x.Checkpoints {
		same := 0
		for same < min(len(before.ID), len(p.ID)) && before.ID[same] == p.ID[same] {
			same++
		}
		out = binary.AppendVarint(binary.AppendVarint(out, int64(same)), int64(len(p.ID)-same))
		out = append(out, p.ID[same:]...)
		tree := make([]byte, x.Hash)
		hex.Decode(tree, []byte(p.Tree)) //nolint:errcheck // an id is hexadecimal
		out = append(out, tree...)
		via := 2 * int64(p.Via)
		if p.Promoted {
			via++
		}
		for _, n := range []int64{p.At - before.At, number(string(p.Head)), number(p.Person), number(p.Worktree), int64(p.Base) - int64(i), via} {
			out = binary.AppendVarint(out, n)
		}
		before = p
	}
	return out
}

// encodeChanges appends the changes.
func (x *index) encodeChanges(out []byte) []byte {
	before := int32(0)
	for _, c := range x.changes {
		for _, n := range []int32{c.point - before, c.path, c.from} {
			out = binary.AppendVarint(out, int64(n))
		}
		before = c.point
	}
	return out
}

// rows reads what encodePoints and encodeChanges wrote.
type rows struct {
	rest []byte
	bad  bool // it does not fit together; all that is read is zero then
}

// next reads a number, which has to be at least least and less than end.
func (r *rows) next(least, end int64) int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 || n < least || n >= end {
		r.rest, r.bad = nil, true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// bytes reads n bytes.
func (r *rows) bytes(n int) []byte {
	if n > len(r.rest) {
		r.rest, r.bad = nil, true
		return make([]byte, n)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// decodePoints reads the points.
func (x *index) decodePoints(r *rows) {
	if x.Points > len(r.rest) {
		r.bad = true
		return
	}
	x.Checkpoints = make([]point, x.Points)
	none, all, words := name.OIDOf(make([]byte, x.Hash)), int64(x.Points), int64(len(x.Words))
	var before point
	for i := range x.Checkpoints {
		p, n := &x.Checkpoints[i], int64(i)
		p.ID = before.ID[:r.next(0, int64(len(before.ID))+1)]
		p.ID += name.ID(r.bytes(int(r.next(0, int64(len(r.rest))+1))))
		if p.Tree = name.OIDOf(r.bytes(x.Hash)); p.Tree == none {
			p.Tree = ""
		}
		p.At = before.At + r.next(math.MinInt64, math.MaxInt64)
		head, person, worktree := r.next(0, words), r.next(0, words), r.next(0, words)
		p.Base = int32(n + r.next(-1-n, all-n)) //nolint:gosec // fewer than the bytes of the file
		via := r.next(-2, 2*all)
		if p.Via, p.Promoted = int32(via>>1), via&1 == 1; r.bad { //nolint:gosec // likewise
			return
		}
		p.Head, p.Person, p.Worktree = name.OID(x.Words[head]), x.Words[person], x.Words[worktree]
		before = *p
	}
}

// decodeChanges reads the changes, and returns false if something did not fit together.
func (x *index) decodeChanges(r *rows) bool {
	if x.Changes > len(r.rest) {
		return false
	}
	x.changes = make([]change, x.Changes)
	paths, at := int64(len(x.Paths)), int64(0)
	for i := range x.changes {
		at += r.next(-at, int64(x.Points)-at)
		x.changes[i] = change{int32(at), int32(r.next(0, paths)), int32(r.next(-1, paths))} //nolint:gosec // fewer than the bytes of the file
	}
	return !r.bad && len(r.rest) == 0
}
