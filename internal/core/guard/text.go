package guard

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// kind says whether a file is text or binary.
type kind int

const (
	textFile kind = iota
	binaryFile
)

// looked is how many bytes at the start of a file decide its kind. git uses the same
// number.
const looked = 8000

// decoded returns the content of a file and its kind. UTF-16 is converted to UTF-8.
func decoded(in io.Reader) (io.Reader, kind, error) {
	b := bufio.NewReaderSize(in, looked)
	head, err := b.Peek(looked)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, textFile, err
	}
	if order := utf16Order(head); order != nil {
		return &utf16Reader{in: b, order: order}, textFile, nil
	}
	return b, kindOf(head), nil
}

// kindOf calls a file binary if it has a zero byte, as git does.
func kindOf(head []byte) kind {
	if bytes.IndexByte(head, 0) >= 0 {
		return binaryFile
	}
	return textFile
}

// utf16Order returns the byte order of UTF-16 text, or nil for other content. It goes by
// the byte order mark. Without one, as Windows also writes it, text in Latin script has
// zeros in nearly every second byte.
func utf16Order(head []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}) && !bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}):
		return binary.LittleEndian
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return binary.BigEndian
	case len(head) < 8 || bytes.IndexByte(head, 0) < 0:
		return nil
	}
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	most := len(head) / 2 * 8 / 10
	switch {
	case zeros[1] >= most && zeros[0] <= len(head)/100+1:
		return binary.LittleEndian
	case zeros[0] >= most && zeros[1] <= len(head)/100+1:
		return binary.BigEndian
	}
	return nil
}

// utf16Reader converts UTF-16 to UTF-8 while reading. Line ends are kept, so line numbers
// stay right.
type utf16Reader struct {
	in    *bufio.Reader
	order binary.ByteOrder
	rest  []byte // converted and not yet returned
}

func (r *utf16Reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		var raw [4096]byte
		n, err := io.ReadFull(r.in, raw[:])
		for i := 0; i+1 < n; i += 2 {
			unit := rune(r.order.Uint16(raw[i:]))
			// Secrets are ASCII, so half of a surrogate pair needs no exact conversion.
			if utf16.IsSurrogate(unit) {
				unit = utf8.RuneError
			}
			r.rest = utf8.AppendRune(r.rest, unit)
		}
		if len(r.rest) == 0 && errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF // in the middle of a code unit
		}
		if len(r.rest) == 0 && err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
