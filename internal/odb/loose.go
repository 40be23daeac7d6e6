package odb

import (
	"bytes"
	"errors"
	"strings"

	"git-checkpoint/internal/mapped"
)

// Loose reads the file of a loose object of at most limit bytes.
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

// LooseInfo gives type and size of a loose object, as its file claims them.
func (r *Reader) LooseInfo(path string) (Object, error) {
	file, err := r.file(path, beginning)
	if err != nil {
		return Object{}, ErrElsewhere
	}
	o, _, err := r.begin(file)
	return o, err
}

// Most loose objects have files of at most small bytes and content of no more than widest
// times as much: they are inflated once, without knowing how long they are.
const (
	small  = 4 << 10
	widest = 8
)

func (r *Reader) looseAtOnce(file []byte) (Object, error) {
	if r.whole == nil {
		r.whole = make([]byte, small*widest)
	}
	n, err := r.inflater.inflateUpTo(r.whole, file)
	if err != nil || n != len(file) {
		return Object{}, ErrElsewhere
	}
	all := r.whole[:r.inflater.done]
	o, head, err := headOf(all[:min(len(all), longestHead)])
	if err != nil || int64(len(all)) != head+o.Size {
		return Object{}, ErrElsewhere
	}
	o.Data = bytes.Clone(all[head:])
	return o, nil
}

// longestHead is more than what stands before the content: the type, a space, the size in
// digits, a NUL.
const longestHead = 32

// beginning is so much of a file as has what stands before the content, and the code that
// it is written in.
const beginning = 512

// file reads as much of a file as an object of limit bytes can have.
func (r *Reader) file(path string, limit int64) ([]byte, error) {
	return mapped.Beginning(path, func(size int64) []byte { return r.room(min(size, compressed(limit)+longestHead)) })
}

// begin reads what stands before the content.
func (r *Reader) begin(file []byte) (o Object, head int64, err error) {
	var begin [longestHead]byte
	if _, err := r.inflater.inflateUpTo(begin[:], file); err != nil && !errors.Is(err, errFull) {
		return o, 0, ErrElsewhere
	}
	return headOf(begin[:r.inflater.done])
}

func headOf(begin []byte) (o Object, head int64, err error) {
	end := bytes.IndexByte(begin, 0)
	if end < 0 {
		return o, 0, ErrElsewhere
	}
	typ, digits, _ := strings.Cut(string(begin[:end]), " ")
	size, ok := decimal(digits)
	if !ok || !isType(typ) {
		return o, 0, ErrElsewhere
	}
	return Object{Type: typ, Size: size}, int64(end) + 1, nil
}

func isType(typ string) bool {
	return typ == "blob" || typ == "tree" || typ == "commit" || typ == "tag"
}

// decimal is a number as git writes it: without a sign, or zeros before it.
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
