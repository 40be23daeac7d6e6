package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Marshal writes the record as the blob has it: members in their documented
// order, two spaces of indentation, a final newline. Equal records give equal
// bytes. It refuses what Parse would refuse, so what it wrote can be read.
func (r *Record) Marshal(limits Limits) ([]byte, error) {
	data, err := r.compact()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return nil, fmt.Errorf("writing record: %w", err)
	}
	b.WriteByte('\n')
	if err := check(b.Bytes(), limits.orDefault(MaxDepth)); err != nil {
		return nil, fmt.Errorf("writing record: %w", err)
	}
	return b.Bytes(), nil
}

// MarshalJSON is Marshal for a record inside an answer.
func (r *Record) MarshalJSON() ([]byte, error) { return r.compact() }

// Seal sets the record's checksum and gives the bytes that are stored. Nothing
// may be changed in r afterwards.
func Seal(r *Record, limits Limits) ([]byte, error) {
	r.Checksum = ""
	unsealed, err := r.Marshal(limits)
	if err != nil {
		return nil, err
	}
	if r.Checksum, err = Checksum(unsealed); err != nil {
		return nil, err
	}
	return r.Marshal(limits)
}

func (r *Record) compact() ([]byte, error) {
	if r.Format != Format {
		return nil, fmt.Errorf("writing record: format %d is not the one that is written, %d", r.Format, Format)
	}
	data, err := r.object().appendTo(nil)
	if err != nil {
		return nil, fmt.Errorf("writing record: %w", err)
	}
	return escapeControls(data), nil
}

// escapeControls escapes what a terminal may take for a command and JSON allows as
// it is: DEL, C1 and the controls of writing direction. git shows the blob raw. In
// valid JSON such a character stands in a string.
func escapeControls(data []byte) []byte {
	hit := func(r rune) bool { return r >= 0x7f && isControl(r) || isDirection(r) }
	if bytes.IndexFunc(data, hit) < 0 {
		return data
	}
	escaped := make([]byte, 0, len(data)+64)
	for _, r := range string(data) {
		if hit(r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		} else {
			escaped = utf8.AppendRune(escaped, r)
		}
	}
	return escaped
}

// appendText writes a JSON string without HTML escapes.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r < 0x20:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

func isDirection(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
