package record

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
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

// Parse reads a record from an untrusted source. It returns an error for a text that is too large,
// too deep or not strict JSON, a newer format (*FormatError), malformed names, and members of the
// wrong type. The members format, id, label, session and created_at are required. The Record does
// not refer to data. It does not verify the checksum.
func Parse(data []byte) (*Record, error) {
	r, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("parsing record: %w", err)
	}
	return r, nil
}

// ParseSealed is Parse for a sealed record. changed is an error if the record does not have the
// checksum that it states, err is the error of Parse.
func ParseSealed(data []byte) (r *Record, changed, err error) {
	if r, err = Parse(data); err != nil {
		return nil, nil, err
	}
	computed, changed := sum(data)
	return r, cmp.Or(changed, differs(r.Checksum, computed)), nil
}

// read does the work of Parse.
func read(data []byte) (*Record, error) {
	if err := check(data, Limits{}.orDefault(MaxDepth)); err != nil {
		return nil, err
	}
	if len(data) > MaxSize/256 { // a byte adds at most a new line with 2*MaxDepth spaces
		if size := storedSize(data); size > MaxSize {
			return nil, &SizeError{Size: size, Limit: MaxSize}
		}
	}
	if text := bytes.TrimSpace(data); text[0] != '{' {
		return nil, jsonError(data, bytes.Index(data, text), "", wrongType("an object", text).Error())
	}
	if err := checkFormat(data); err != nil {
		return nil, err
	}
	r := new(Record)
	if err := cmp.Or(jsonv2.Unmarshal(data, (*fields)(r), reading()), r.check()); err != nil {
		return nil, located(data, err)
	}
	if string(r.Error) == "null" {
		r.Error = nil
	}
	for _, needed := range []struct {
		name    string
		missing bool
	}{{"checksum", r.Checksum == "" && gjson.GetBytes(data, "checksum").Exists()}, {"id", r.ID == ""}, {"label", r.Label == ""}, {"session", r.Session == ""}, {"created_at", r.CreatedAt.IsZero()}} {
		if needed.missing {
			return nil, jsonError(data, 0, needed.name, "this member is required")
		}
	}
	return r, nil
}

// checkFormat checks the member format before any other is read, because the members of a newer
// format may mean something else.
func checkFormat(data []byte) error {
	format := gjson.GetBytes(data, "format")
	switch {
	case !format.Exists():
		return jsonError(data, 0, "format", "this member is required")
	case format.Raw == strconv.Itoa(Format):
		return nil
	case strings.Trim(format.Raw, "0123456789") == "" && format.Raw != "0":
		return &FormatError{Format: clip(format.Raw, 20)}
	}
	return jsonError(data, format.Index, "format", wrongType("a format number", []byte(format.Raw)).Error())
}
