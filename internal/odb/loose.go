package odb

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
)

// Loose reads the file of a loose object of at most limit bytes.
func (r *Reader) Loose(path string, limit int64) (Object, error) {
	o, file, head, err := r.loose(path, limit)
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
	o, _, _, err := r.loose(path, beginning)
	return o, err
}

// longestHead is more than what stands before the content: the type, a space, the size in
// digits, a NUL.
const longestHead = 32

// beginning is so much of a file as has what stands before the content, and the code that
// it is written in.
const beginning = 512

// loose reads what stands before the content, and as much of the file as an object of
// limit bytes can have.
func (r *Reader) loose(path string, limit int64) (o Object, file []byte, head int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return o, nil, 0, ErrElsewhere
	}
	defer f.Close() //nolint:errcheck // read only
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return o, nil, 0, ErrElsewhere
	}
	file = r.room(min(info.Size(), compressed(limit)+longestHead))
	if _, err := io.ReadFull(f, file); err != nil {
		return o, nil, 0, ErrElsewhere
	}
	var begin [longestHead]byte
	_, err = r.inflater.inflate(begin[:], file)
	have := begin[:r.inflater.done]
	if err != nil && !errors.Is(err, errFull) && !errors.Is(err, errEarly) {
		return o, nil, 0, ErrElsewhere
	}
	end := bytes.IndexByte(have, 0)
	if end < 0 {
		return o, nil, 0, ErrElsewhere
	}
	typ, digits, _ := strings.Cut(string(have[:end]), " ")
	size, ok := decimal(digits)
	if !ok || !isType(typ) {
		return o, nil, 0, ErrElsewhere
	}
	return Object{Type: typ, Size: size}, file, int64(end) + 1, nil
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
