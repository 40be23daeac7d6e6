package why

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"git-checkpoint/internal/format/name"
)

// point is a checkpoint that is not dead.
type point struct {
	ID       name.ID
	Tree     name.OID // empty: it is missing
	Head     name.OID // HEAD when it was made; may be empty
	At       int64    // seconds since 1970
	Mail     string   // of its author
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

// A point is written as its ID in a text of all of them, one a line, and as a row: the tree, of Hash bytes,
// or zeros; the time, 8 bytes; the numbers of HEAD, mail and worktree in Words, the base, and 2*via + 1 if
// it is promoted, 4 bytes each. 10,000 points are read at each start, so they are no JSON.
const rowSize = 8 + 5*4

// encodePoints returns the IDs and the rows. It sets the parts of the head that they need.
func (x *index) encodePoints() (ids, rows []byte) {
	numbers := map[string]int32{}
	number := func(word string) uint32 {
		n, known := numbers[word]
		if !known {
			n = int32(len(x.Words)) //nolint:gosec // bounded by the number of checkpoints
			numbers[word], x.Words = n, append(x.Words, word)
		}
		return uint32(n) //nolint:gosec // not negative
	}
	x.Words, x.Hash = nil, 20
	for i := range x.Checkpoints {
		if len(x.Checkpoints[i].Tree) == 64 {
			x.Hash = 32
		}
	}
	for _, p := range x.Checkpoints {
		ids = append(append(ids, p.ID...), '\n')
		tree := make([]byte, x.Hash)
		hex.Decode(tree, []byte(p.Tree))                                             //nolint:errcheck // an id is hexadecimal
		rows = binary.LittleEndian.AppendUint64(append(rows, tree...), uint64(p.At)) //nolint:gosec // read back as it was
		via := 2 * p.Via
		if p.Promoted {
			via++
		}
		for _, part := range []uint32{number(string(p.Head)), number(p.Mail), number(p.Worktree), uint32(p.Base), uint32(via)} { //nolint:gosec // read back as it was
			rows = binary.LittleEndian.AppendUint32(rows, part)
		}
	}
	x.Points, x.Names = len(x.Checkpoints), len(ids)
	return ids, rows
}

// decodePoints reads what encodePoints wrote, and returns false if it does not fit together.
func (x *index) decodePoints(ids, rows []byte) bool {
	x.Checkpoints = make([]point, x.Points)
	none, rest := strings.Repeat("0", 2*x.Hash), string(ids)
	for i := range x.Checkpoints {
		id, after, is := strings.Cut(rest, "\n")
		row := rows[i*(x.Hash+rowSize):]
		part := func(n int) int32 { return int32(binary.LittleEndian.Uint32(row[x.Hash+8+4*n:])) } //nolint:gosec // as written
		for n := range 3 {
			is = is && part(n) >= 0 && int(part(n)) < len(x.Words)
		}
		if !is || part(3) >= int32(x.Points) || part(4)>>1 >= int32(x.Points) { //nolint:gosec // bounded by the size of the file
			return false
		}
		p := point{ID: name.ID(id), Tree: name.OIDOf(row[:x.Hash]), At: int64(binary.LittleEndian.Uint64(row[x.Hash:])), Base: part(3), Via: part(4) >> 1, Promoted: part(4)&1 == 1} //nolint:gosec // as written
		p.Head, p.Mail, p.Worktree = name.OID(x.Words[part(0)]), x.Words[part(1)], x.Words[part(2)]
		if string(p.Tree) == none {
			p.Tree = ""
		}
		x.Checkpoints[i], rest = p, after
	}
	return true
}
