package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Marshal returns the record as it is stored: members in their documented order, indented by two
// spaces, with a final newline. Equal records give equal bytes. It returns an error for anything
// that Parse would reject, so that whatever was written can be read.
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

// MarshalJSON is Marshal for a record that is part of an answer: compact and without a size limit.
func (r *Record) MarshalJSON() ([]byte, error) { return r.compact() }

// UnmarshalJSON is Parse.
func (r *Record) UnmarshalJSON(data []byte) error {
	parsed, err := Parse(data)
	if err == nil {
		*r = *parsed
	}
	return err
}

// Seal sets the checksum of r and returns the bytes to store. r must not change afterwards.
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

// compact returns the record as JSON without white space.
func (r *Record) compact() ([]byte, error) {
	if r.Format != Format {
		return nil, fmt.Errorf("writing record: it has format %d, but this version writes %d", r.Format, Format)
	}
	data, err := r.object().appendTo(nil)
	if err != nil {
		return nil, fmt.Errorf("writing record: %w", err)
	}
	return escapeControls(data), nil
}

// escapeControls escapes characters that JSON allows in strings but a terminal may interpret: DEL,
// C1 controls and the bidirectional controls. git shows the blob as it is, in a note for example.
// In valid JSON these characters only occur inside strings, so they can be replaced without
// parsing.
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

// appendText appends s as a JSON string. Unlike encoding/json it does not escape <, > and &.
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

// isControl reports a C0 or C1 control character or DEL.
func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

// isDirection reports a bidirectional control. Such characters can make text look different from
// what it is.
func isDirection(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
