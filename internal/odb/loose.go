package odb

// The file of a loose object is one zlib stream: "<type> <size>", a NUL, and the content.

import (
	"bytes"
	"errors"
	"strings"

	"git-checkpoint/internal/mapped"
)

// Loose reads a loose object of at most limit bytes from its file. The file must hold one stream
// and nothing behind it. The content stays valid.
func (r *Reader) Loose(path string, limit int64) (Object, error) {
	file, err := r.file(path, limit)
	if err != nil {
		return Object{}, ErrElsewhere
	}
	if len(file) <= small {
		if o, err := r.looseAtOnce(file); err == nil && o.Size <= limit {
			return o, nil
		}
	}
	o, head, err := r.begin(file)
	if err != nil {
		return Object{}, err
	}
	if o.Size > limit {
		return Object{}, ErrLarge
	}
	all := make([]byte, head+o.Size)
	n, err := r.inflater.inflate(all, file)
	if err != nil || n != len(file) {
		return Object{}, ErrElsewhere
	}
	o.Data = all[head:]
	return o, nil
}

// LooseInfo returns the type and the size that a loose object's file claims. Only its beginning
// is read.
func (r *Reader) LooseInfo(path string) (Object, error) {
	file, err := r.file(path, beginning)
	if err != nil {
		return Object{}, ErrElsewhere
	}
	o, _, err := r.begin(file)
	return o, err
}

// Most loose objects have files of at most small bytes, and content that is at most widest times
// as large. These are inflated once, into a buffer. For others the header is inflated first to
// learn the size.
const (
	small  = 4 << 10
	widest = 8
)

// looseAtOnce inflates a small object in one go. It fails if the content is larger than the
// buffer.
func (r *Reader) looseAtOnce(file []byte) (Object, error) {
	if r.whole == nil {
		r.whole = make([]byte, small*widest)
	}
	n, err := r.inflater.inflateUpTo(r.whole, file)
	if err != nil || n != len(file) {
		return Object{}, ErrElsewhere
	}
	all := r.whole[:r.inflater.done]
	o, head, err := HeadOf(all[:min(len(all), LongestHead)])
	if err != nil || int64(len(all)) != head+o.Size {
		return Object{}, ErrElsewhere
	}
	o.Data = bytes.Clone(all[head:])
	return o, nil
}

// LongestHead is an upper bound for the part before the content: the type, a space, the size in
// decimal digits, and a NUL.
const LongestHead = 32

// beginning is how much of a file contains that part in any case, including the Huffman tables of
// the compressed block.
const beginning = 512

// file reads as much of a file as the compressed form of limit bytes can have.
func (r *Reader) file(path string, limit int64) ([]byte, error) {
	return mapped.Beginning(path, func(size int64) []byte { return r.room(min(size, compressed(limit)+LongestHead)) })
}

// begin inflates and decodes the part before the content. head is its length, with the NUL.
func (r *Reader) begin(file []byte) (o Object, head int64, err error) {
	var begin [LongestHead]byte
	if _, err := r.inflater.inflateUpTo(begin[:], file); err != nil && !errors.Is(err, errFull) {
		return o, 0, ErrElsewhere
	}
	return HeadOf(begin[:r.inflater.done])
}

// HeadOf decodes the part before the content.
func HeadOf(begin []byte) (o Object, head int64, err error) {
	end := bytes.IndexByte(begin, 0)
	if end < 0 {
		return o, 0, ErrElsewhere
	}
	typ, digits, _ := strings.Cut(string(begin[:end]), " ")
	size, ok := decimal(digits)
	if !ok || !IsType(typ) {
		return o, 0, ErrElsewhere
	}
	return Object{Type: typ, Size: size}, int64(end) + 1, nil
}

// IsType reports whether typ is one of git's four types of objects.
func IsType(typ string) bool {
	return typ == "blob" || typ == "tree" || typ == "commit" || typ == "tag"
}

// decimal parses a number as git writes it: no sign and no leading zeros.
func decimal(digits string) (n int64, ok bool) {
	if digits == "" || len(digits) > 18 || len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}
