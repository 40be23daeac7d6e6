package journal

// This file encodes texts and numbers for the cache.

import "encoding/binary"

// appendText appends a text: its length as a uvarint, then its bytes.
func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// reader reads values from a payload. After a value that does not fit, it is broken and all further
// values are empty, so that callers need to check for errors once, in end.
type reader struct {
	rest   []byte
	whole  string // if not empty, a copy of what rest was, whose memory all texts share
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

// raw returns the bytes of the next text.
func (r *reader) raw() (text []byte) {
	size := r.uint()
	if size > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	text, r.rest = r.rest[:size], r.rest[size:]
	return text
}

// text returns the next text.
func (r *reader) text() string {
	text := r.raw()
	if r.whole == "" {
		return string(text)
	}
	end := len(r.whole) - len(r.rest)
	return r.whole[end-len(text) : end]
}
