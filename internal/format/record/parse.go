package record

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

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
	text := bytes.TrimSpace(data)
	if text[0] != '{' {
		return nil, jsonError(data, bytes.Index(data, text), "", wrongType("an object", text).Error())
	}
	if err := checkFormat(data, text); err != nil {
		return nil, err
	}
	r := new(Record)
	if err := r.object().parse(text); err != nil {
		return nil, located(data, err)
	}
	for _, needed := range []struct {
		name    string
		missing bool
	}{{"id", r.ID == ""}, {"label", r.Label == ""}, {"session", r.Session == ""}, {"created_at", r.CreatedAt.IsZero()}} {
		if needed.missing {
			return nil, jsonError(data, 0, needed.name, "this member is required")
		}
	}
	return r, nil
}

// checkFormat checks the member format before any other is read, because the members of a newer
// format may mean something else. data is the whole text, for positions in errors; text is data
// without surrounding space.
func checkFormat(data, text []byte) error {
	for name, value := range members(text) {
		if name != "format" {
			continue
		}
		number := string(value)
		switch {
		case number == strconv.Itoa(Format):
			return nil
		case strings.Trim(number, "0123456789") == "" && number != "0":
			return &FormatError{Format: clip(number, 20)}
		}
		return located(data, within(name, wrongType("a format number", value)))
	}
	return jsonError(data, 0, "format", "this member is required")
}

// located converts an error of a codec to a *JSONError: it looks up the offset of the bad member by
// its path.
func located(data []byte, err error) error {
	f, ok := err.(*fault) //nolint:errorlint // faults are never wrapped
	if !ok {
		return jsonError(data, 0, "", err.Error())
	}
	path := strings.Join(f.path, ".")
	return jsonError(data, gjson.GetBytes(data, path).Index, path, f.cause.Error())
}
