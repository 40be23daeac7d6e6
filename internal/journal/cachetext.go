package journal

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"

	"git-checkpoint/internal/name"
)

// How a text is kept: as it is, or as the bytes that its digits stand for.
const (
	asIs = iota
	asHex
	asSum // "sha256:" and digits
)

const sumPrefix = "sha256:"

// minHex is for how many digits it is worth to look.
const minHex = 16

// appendText appends a text: its length and form, and its bytes.
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

// isHex reports whether a text is bytes in the form in which ids are written.
func isHex(s string) bool {
	if len(s) < minHex || len(s)%2 != 0 {
		return false
	}
	return name.IsHex(s)
}

func nibble(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}

// reader takes values off a payload. Once one does not fit it is broken, and every
// further value is empty.
type reader struct {
	rest   []byte
	texts  *strings.Builder // gets the texts, so that many share their memory; nil: each has its own
	broken bool
}

func (r *reader) fail() { r.rest, r.broken = nil, true }

func (r *reader) uint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 { // as nearly all are
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

func (r *reader) int() int64 {
	v := r.uint()
	return int64(v>>1) ^ -int64(v&1)
}

// raw is the next text as it is kept.
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

// skip passes a text.
func (r *reader) skip() { r.raw() }

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

// unpack writes a text behind others, and gives it.
func unpack(form int, kept []byte, to *strings.Builder) string {
	from := to.Len()
	if form == asIs {
		to.Write(kept)
		return to.String()[from:]
	}
	if form == asSum {
		to.WriteString(sumPrefix)
	}
	var digits [128]byte
	for len(kept) > 0 {
		n := min(len(kept), len(digits)/2)
		to.Write(hex.AppendEncode(digits[:0], kept[:n]))
		kept = kept[n:]
	}
	return to.String()[from:]
}
