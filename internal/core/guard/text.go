package guard

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"golang.org/x/text/encoding/unicode"
)

// looked is how many bytes at the start of a file decide whether it is binary. git uses the same
// number.
const looked = 8000

// decoded returns the content of a file, and whether it is binary. UTF-16 is converted to UTF-8. Line ends are kept, so
// line numbers stay right.
func decoded(in io.Reader) (io.Reader, bool, error) {
	b := bufio.NewReaderSize(in, looked)
	head, err := b.Peek(looked)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if order, is := utf16Order(head); is {
		return unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder().Reader(b), false, nil
	}
	return b, isBinary(head), nil
}

// isBinary calls a file binary if it has a zero byte, as git does.
func isBinary(head []byte) bool { return bytes.IndexByte(head, 0) >= 0 }

// utf16Order returns the byte order of UTF-16 text, and whether a file has that. It goes by
// the byte order mark. Without one, as Windows also writes it, text in Latin script has
// zeros in nearly every second byte.
func utf16Order(head []byte) (order unicode.Endianness, is bool) {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}) && !bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}):
		return unicode.LittleEndian, true
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return unicode.BigEndian, true
	case len(head) < 8 || !isBinary(head):
		return unicode.LittleEndian, false
	}
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	most, few := len(head)/2*8/10, len(head)/100+1
	if zeros[1] >= most && zeros[0] <= few {
		return unicode.LittleEndian, true
	}
	return unicode.BigEndian, zeros[0] >= most && zeros[1] <= few
}
