package odb

// The file of a loose object is one zlib stream: "<type> <size>", a NUL, and the content.

import (
	"bytes"
	"strconv"
	"strings"

	"git-checkpoint/internal/sys/mapped"
)

// Loose reads a loose object of at most limit bytes from its file. The file must hold one stream
// and nothing after it. The content stays valid.
func (r *Reader) Loose(path string, limit int64) (Object, error) {
	file, err := r.file(path, limit)
	if err != nil {
		return Object{}, ErrUseGit
	}
	o, begun, err := r.begin(file)
	if err != nil {
		return Object{}, err
	}
	if o.Size > limit {
		return Object{}, ErrLarge
	}
	if int64(len(begun)) > o.Size {
		return Object{}, ErrUseGit
	}
	o.Data = make([]byte, o.Size)
	n, err := r.inflater.finish(o.Data[copy(o.Data, begun):])
	if err != nil || n != len(file) {
		return Object{}, ErrUseGit
	}
	return o, nil
}

// LooseInfo returns the type and the size that a loose object's file claims. Only its beginning
// is read.
func (r *Reader) LooseInfo(path string) (Object, error) {
	file, err := r.file(path, beginning)
	if err != nil {
		return Object{}, ErrUseGit
	}
	o, _, err := r.begin(file)
	return o, err
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

// begin inflates and decodes the part before the content. begun is the beginning of the content,
// as far as it was inflated too; it is valid until the next call.
func (r *Reader) begin(file []byte) (o Object, begun []byte, err error) {
	if err := r.inflater.open(file); err != nil {
		return o, nil, ErrUseGit
	}
	n, err := r.inflater.read(r.head[:])
	if err != nil {
		return o, nil, ErrUseGit
	}
	o, length, err := HeadOf(r.head[:n])
	return o, r.head[length:n], err
}

// HeadOf decodes the part of a loose object before the content. length is that of this part, with
// the NUL.
func HeadOf(begin []byte) (o Object, length int64, err error) {
	head, _, ended := bytes.Cut(begin, []byte{0})
	typ, digits, _ := strings.Cut(string(head), " ")
	size, ok := decimal(digits)
	if !ended || !ok || !IsType(typ) {
		return o, 0, ErrUseGit
	}
	return Object{Type: typ, Size: size}, int64(len(head)) + 1, nil
}

// IsType reports whether typ is one of git's four types of objects.
func IsType(typ string) bool {
	return typ == "blob" || typ == "tree" || typ == "commit" || typ == "tag"
}

// decimal parses a number as git writes it: no sign and no leading zeros.
func decimal(digits string) (n int64, ok bool) {
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && 0 <= n && n < 1e18 && strconv.FormatInt(n, 10) == digits
}
