package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON writes v as one object on one line. Called for each item it writes JSON lines.
// Members are those of v's type; < > & stay as they are; characters that a terminal
// would obey are written as \u escapes, which mean the same.
func JSON(w io.Writer, v any) error {
	return NewLines(w).Write(v)
}

// Lines writes values as JSON does, one after the other, with memory that is used again.
type Lines struct {
	w       io.Writer
	buffer  bytes.Buffer
	encoder *json.Encoder
	line    []byte
}

// NewLines writes to w.
func NewLines(w io.Writer) *Lines {
	l := &Lines{w: w}
	l.encoder = json.NewEncoder(&l.buffer)
	l.encoder.SetEscapeHTML(false)
	return l
}

// Write writes one value on a line.
func (l *Lines) Write(v any) error {
	l.buffer.Reset()
	if err := l.encoder.Encode(v); err != nil {
		return fmt.Errorf("encoding JSON: %w", err)
	}
	l.line = append(appendTame(l.line[:0], bytes.TrimSuffix(l.buffer.Bytes(), []byte("\n"))), '\n')
	_, err := l.w.Write(l.line)
	return err
}

// TameJSON escapes what a terminal would obey in valid JSON, whose control characters
// below 0x20 are escaped already and which has other characters than ASCII in strings
// only. What came in as raw JSON can still hold the rest, even broken UTF-8.
func TameJSON(line []byte) []byte { return appendTame(make([]byte, 0, len(line)+1), line) }

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
