package journal

// This file encodes texts for the cache. Most of a journal's volume is object ids and checksums in
// hexadecimal, which are stored as bytes, at half the size.

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"

	"git-checkpoint/internal/name"
)

// The forms in which a text is stored, the two low bits of its header. The other bits are the
// number of bytes that follow.
const (
	asIs  = iota
	asHex // bytes; the text is their hexadecimal form
	asSum // bytes; the text is "sha256:" and their hexadecimal form
)

const sumPrefix = "sha256:"

// minHex is the length from which on a text is checked for hexadecimal digits.
const minHex = 16

// appendText appends a text: a uvarint of its stored length and form, then the bytes.
func appendText(dst []byte, s string) []byte {
	form, digits := asIs, ""
	if isHex(s) {
		form, digits = asHex, s
	} else if rest, ok := strings.CutPrefix(s, sumPrefix); ok && isHex(rest) {
		form, digits = asSum, rest
	}
	if form == asIs {
		return append(binary.AppendUvarint(dst, uint64(len(s))<<2), s...)
	}
	dst = binary.AppendUvarint(dst, uint64(len(digits)/2<<2|form))
	for i := 0; i < len(digits); i += 2 {
		dst = append(dst, nibble(digits[i])<<4|nibble(digits[i+1]))
	}
	return dst
}

// isHex reports whether s can be stored as bytes and restored exactly: an even number of lower-case
// digits.
func isHex(s string) bool {
	if len(s) < minHex || len(s)%2 != 0 {
		return false
	}
	return name.IsHex(s)
}

// nibble returns the value of a lower-case hexadecimal digit.
func nibble(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}

// reader reads values from a payload. After a value that does not fit, it is broken and all further
// values are empty, so that callers need to check for errors once, in end.
type reader struct {
	rest   []byte
	texts  *strings.Builder // if not nil, all texts share this builder's memory
	broken bool
}

// fail marks r as broken.
func (r *reader) fail() { r.rest, r.broken = nil, true }

// uint reads a uvarint.
func (r *reader) uint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 { // the fast path: nearly all values fit into one byte
		v := uint64(r.rest[0])
		r.rest = r.rest[1:]
		return v
	}
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// int reads a varint, which is a uvarint in zigzag encoding.
func (r *reader) int() int64 {
	v := r.uint()
	return int64(v>>1) ^ -int64(v&1)
}

// raw returns the next text in its stored form.
func (r *reader) raw() (form int, kept []byte) {
	head := r.uint()
	size := head >> 2
	form = int(head & 3)
	if size > uint64(len(r.rest)) || size > math.MaxInt32 || form > asSum {
		r.fail()
		return asIs, nil
	}
	kept, r.rest = r.rest[:size], r.rest[size:]
	return form, kept
}

// skip passes over the next text.
func (r *reader) skip() { r.raw() }

// text returns the next text.
func (r *reader) text() string {
	form, kept := r.raw()
	if len(kept) == 0 && form == asIs {
		return ""
	}
	if r.texts == nil {
		return unpack(form, kept, new(strings.Builder))
	}
	return unpack(form, kept, r.texts)
}

// unpack appends a stored text to a builder and returns that part of the builder's memory.
func unpack(form int, kept []byte, to *strings.Builder) string {
	from := to.Len()
	if form == asIs {
		to.Write(kept)
		return to.String()[from:]
	}
	if form == asSum {
		to.WriteString(sumPrefix)
	}
	var digits [128]byte // on the stack
	for len(kept) > 0 {
		n := min(len(kept), len(digits)/2)
		to.Write(hex.AppendEncode(digits[:0], kept[:n]))
		kept = kept[n:]
	}
	return to.String()[from:]
}
