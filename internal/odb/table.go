package odb

import "encoding/binary"

// entry is what a word of a code stands for: its length, how many bits follow it, what
// kind it is, and its value.
type entry uint32

// The kinds of entries. The zero entry is of none: no word leads there.
const (
	kindNone uint = iota
	kindLiteral
	kindBase // of a length or a distance, to which the bits that follow are added
	kindEnd
	kindDeeper // the word is longer than one look: where the second table is, and how many bits decide there
)

func (e entry) length() uint { return uint(e & 0xf) }
func (e entry) extra() uint  { return uint(e >> 4 & 0xf) }
func (e entry) kind() uint   { return uint(e >> 8 & 0xf) }
func (e entry) value() uint  { return uint(e >> 16) }

func newEntry(kind, extra, value uint) entry { return entry(value<<16 | kind<<8 | extra<<4) }

// code is one of the three codes of a block: what its symbols stand for, how many bits one
// look decides at most, and whether it may be incomplete.
type code struct {
	symbols []entry
	root    uint
	gaps    bool
}

var (
	literals  = code{makeLiterals(), literalBits, true}
	distances = code{makeDistances(), distanceBits, true}
	lengths   = code{makeLengths(), lengthBits, false}
)

func makeLiterals() []entry {
	all := make([]entry, maxLiterals)
	for i := range 256 {
		all[i] = newEntry(kindLiteral, 0, uint(i))
	}
	all[256] = newEntry(kindEnd, 0, 0)
	base := uint(3)
	for i := range uint(28) {
		extra := uint(0)
		if i >= 8 {
			extra = i/4 - 1
		}
		all[257+i] = newEntry(kindBase, extra, base)
		base += 1 << extra
	}
	all[285] = newEntry(kindBase, 0, 258)
	return all
}

func makeDistances() []entry {
	all := make([]entry, maxDistances)
	base := uint(1)
	for i := range uint(30) {
		extra := uint(0)
		if i >= 4 {
			extra = i/2 - 1
		}
		all[i] = newEntry(kindBase, extra, base)
		base += 1 << extra
	}
	return all
}

func makeLengths() []entry {
	all := make([]entry, maxLengths)
	for i := range all {
		all[i] = newEntry(kindLiteral, 0, uint(i))
	}
	return all
}

// maxWord is the length of the longest word of a code.
const maxWord = 15

// table finds what the next bits stand for: the first bits decide, or lead to a second
// table for the longer words.
type table struct {
	root   uint                // how many bits decide at first: no more than the longest word has
	sorted [maxLiterals]uint16 // the symbols that have words, the shortest first
	words  [1 << 11]entry      // both: 288 symbols need 1334 of them at most, and distances fewer
}

// look finds the entry of the word that bits begin with.
func (t *table) look(bits uint64) entry {
	e := t.words[bits&(1<<(t.root&63)-1)&(1<<11-1)]
	if e.kind() == kindDeeper {
		e = t.deeper(e, bits)
	}
	return e
}

// deeper finds a word in the second table that an entry of the first leads to.
func (t *table) deeper(e entry, bits uint64) entry {
	return t.words[(e.value()+uint(bits>>(t.root&63))&(1<<e.extra()-1))&(1<<11-1)]
}

// make fills the table from the lengths of all words, 0 for a symbol without one, of which
// count says how many there are. A code that is not complete is refused as zlib does: only
// one with a single word of one bit, or none at all, may have gaps.
func (t *table) make(c *code, lengths []uint8, count *[maxWord + 1]uint16) error {
	var next [maxWord + 2]uint16
	left, longest := 1, 0
	for l := 1; l <= maxWord; l++ {
		if left = left<<1 - int(count[l]); left < 0 {
			return errStream
		}
		if count[l] > 0 {
			longest = l
		}
		next[l+1] = next[l] + count[l]
	}
	if left > 0 && longest != 0 && (longest != 1 || !c.gaps) {
		return errStream
	}
	sorted := t.sorted[:next[longest+1]]
	for s := 0; s < len(lengths); s++ {
		if len(lengths)-s >= 8 && binary.LittleEndian.Uint64(lengths[s:]) == 0 { // most have no word
			s += 7
			continue
		}
		if l := lengths[s] & maxWord; l != 0 {
			sorted[next[l]] = uint16(s)
			next[l]++
		}
	}
	return t.fill(c, longest, count)
}

// fill gives each word its places. Words of one length follow each other as numbers, whose
// bits stand the other way round in the stream.
func (t *table) fill(c *code, longest int, count *[maxWord + 1]uint16) error {
	word, done := uint(0), 0
	t.words[0] = 0
	root := min(c.root, max(1, uint(longest))) //nolint:gosec // of at most maxWord
	t.root = root
	for l := uint(1); l <= root; l++ { // what has l bits is in there twice with one more
		half := uint(1) << (l - 1)
		copy(t.words[half:2*half], t.words[:half])
		for _, s := range t.sorted[done : done+int(count[l])] {
			if e := c.symbols[s]; e != 0 {
				t.words[word] = e | entry(l)
			} else {
				t.words[word] = 0
			}
			word = following(word, l)
		}
		done += int(count[l])
	}
	free := uint(1) << root
	below, first, width := ^uint(0), uint(0), uint(0) // of the second table that is being filled
	for l := root + 1; l <= uint(longest); l++ {
		for n := count[l]; n > 0; n-- {
			if low := word & (1<<root - 1); low != below {
				below, first, width = low, free, widthOf(root, l, uint(longest), n, count)
				free += 1 << width
				if free > uint(len(t.words)) {
					return errStream
				}
				clear(t.words[first:free])
				t.words[low] = newEntry(kindDeeper, width, first)
			}
			e := c.symbols[t.sorted[done]]
			done++
			if e != 0 {
				e |= entry(l)
			}
			for at := word >> root; at < 1<<width; at += 1 << (l - root) {
				t.words[first+at] = e
			}
			word = following(word, l)
		}
	}
	return nil
}

// following is the next word of a length: one is added at the end that comes last.
func following(word, length uint) uint {
	bit := uint(1) << (length - 1)
	for word&bit != 0 {
		bit >>= 1
	}
	if bit == 0 {
		return 0
	}
	return word&(bit-1) | bit
}

// widthOf is how many bits a second table decides whose shortest words have a length, of
// which so many are left: enough for all words that begin like it.
func widthOf(root, length, longest uint, left uint16, count *[maxWord + 1]uint16) uint {
	width := length - root
	room := 1<<width - int(left)
	for room > 0 && length < longest {
		length++
		width++
		room = room<<1 - int(count[length])
	}
	return width
}
