package record

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/tidwall/gjson"
)

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
