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

// kind is what a file holds.
type kind int

const (
	textFile kind = iota
	binaryFile
)

// looked is how much of a file decides what it holds; git looks at as much.
const looked = 8000

// decoded tells what a file holds, and gives UTF-16 as UTF-8.
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

func kindOf(head []byte) kind {
	if bytes.IndexByte(head, 0) >= 0 {
		return binaryFile
	}
	return textFile
}

// utf16Order recognizes UTF-16 by its byte order mark, or, as Windows also writes it
// without, by zeros that stand nearly everywhere on one side and hardly on the other.
func utf16Order(head []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}) && !bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}):
		return binary.LittleEndian
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return binary.BigEndian
	case len(head) < 8:
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

// utf16Reader decodes as it goes. Line ends stay what they are, so lines keep their numbers.
type utf16Reader struct {
	in    *bufio.Reader
	order binary.ByteOrder
	rest  []byte // decoded, not yet given
}

func (r *utf16Reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		var raw [4096]byte
		n, err := io.ReadFull(r.in, raw[:])
		for i := 0; i+1 < n; i += 2 {
			unit := rune(r.order.Uint16(raw[i:]))
			if utf16.IsSurrogate(unit) { // no secret has one: half of a pair serves as well
				unit = utf8.RuneError
			}
			r.rest = utf8.AppendRune(r.rest, unit)
		}
		if len(r.rest) == 0 && err != nil {
			return 0, noRest(err)
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// noRest is the end of a file in the middle of a unit, which is its end all the same.
func noRest(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}
