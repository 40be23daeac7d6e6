package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Marshal returns the record as it is stored: members in their documented order, indented by two
// spaces, with a final newline. Equal records give equal bytes. It returns an error for anything
// that Parse would reject, so that whatever was written can be read.
func (r *Record) Marshal(limits Limits) ([]byte, error) {
	data, err := r.MarshalJSON()
	if err == nil {
		data = append(data, '\n')
		err = check(data, limits.orDefault(MaxDepth))
	}
	if err != nil {
		return nil, fmt.Errorf("writing record: %w", err)
	}
	return data, nil
}

// MarshalJSON is Marshal for a record that is part of an answer: without a limit of its size.
func (r *Record) MarshalJSON() ([]byte, error) {
	if r.Format != Format {
		return nil, fmt.Errorf("it has format %d, but this version writes %d", r.Format, Format)
	}
	unsealed := fields(*r)
	if unsealed.Checksum = ""; len(r.State) == 0 {
		unsealed.State = json.RawMessage("{}")
	}
	if err := r.check(); err != nil {
		return nil, unwritten(err)
	}
	data, err := jsonv2.Marshal(&unsealed, writing(), jsontext.WithIndent("  "))
	if err != nil {
		return nil, unwritten(err)
	}
	if r.Checksum != "" {
		data = fmt.Appendf(bytes.TrimSuffix(data, []byte("\n}")), ",\n  \"checksum\": %q\n}", r.Checksum) // behind the unknown members
	}
	return escapeControls(data), nil
}

// fields is a Record without methods.
type fields Record

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
	r.Checksum = "sha256:" + strings.Repeat("0", hex.EncodedLen(sha256.Size)) // as long as the one that takes its place
	data, err := r.Marshal(limits)
	if err != nil {
		return nil, err
	}
	if r.Checksum, err = sum(data); err == nil {
		copy(data[bytes.LastIndex(data, []byte("sha256:")):], r.Checksum)
	}
	return data, err
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
func isDirection(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }
