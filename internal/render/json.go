package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON writes v as JSON on one line. Called for each item of a list, it writes JSON lines. The
// characters < > & are not escaped. Characters that a terminal would obey are written as \u
// escapes, which have the same meaning.
func JSON(w io.Writer, v any) error {
	return NewLines(w).Write(v)
}

// Lines writes many values as JSON does, reusing its buffers.
type Lines struct {
	w       io.Writer
	buffer  bytes.Buffer
	encoder *json.Encoder
	line    []byte
}

// NewLines returns a Lines that writes to w.
func NewLines(w io.Writer) *Lines {
	l := &Lines{w: w}
	l.encoder = json.NewEncoder(&l.buffer)
	l.encoder.SetEscapeHTML(false)
	return l
}

// Write writes one value on a line of its own.
func (l *Lines) Write(v any) error {
	l.buffer.Reset()
	if err := l.encoder.Encode(v); err != nil {
		return fmt.Errorf("encoding JSON: %w", err)
	}
	l.line = append(appendTame(l.line[:0], bytes.TrimSuffix(l.buffer.Bytes(), []byte("\n"))), '\n')
	_, err := l.w.Write(l.line)
	return err
}

// TameJSON escapes what a terminal would obey in a valid JSON text. Characters other than ASCII
// occur only in its strings, and those below 0x20 are escaped already. Values that were stored as
// raw JSON may contain any others, even invalid UTF-8.
func TameJSON(line []byte) []byte { return appendTame(make([]byte, 0, len(line)+1), line) }

// appendTame appends line to out with the escapes of TameJSON.
func appendTame(out, line []byte) []byte {
	for i := 0; i < len(line); {
		if c := line[i]; c < 0x7f {
			out = append(out, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(line[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, `\ufffd`...)
		case !hostile(r):
			out = append(out, line[i:i+size]...)
		case r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
		i += size
	}
	return out
}
