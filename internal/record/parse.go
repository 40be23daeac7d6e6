package record

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Parse reads a record that may come from anyone. It refuses what is too large, too
// deep or not strictly JSON, a later format (*FormatError), names outside their
// grammar and members of a wrong type; format, id, session, label and created_at
// have to be there. Nothing of data is kept, so the caller may use it again.
func Parse(data []byte, limits Limits) (*Record, error) {
	r, err := read(data, limits.orDefault(MaxDepth))
	if err != nil {
		return nil, fmt.Errorf("parsing record: %w", err)
	}
	return r, nil
}

// ParseSealed is Parse, and Verify of what was parsed: changed is its error.
func ParseSealed(data []byte, limits Limits) (r *Record, changed, err error) {
	if r, err = Parse(data, limits); err != nil {
		return nil, nil, err
	}
	computed, err := sum(data)
	return r, compare(r, computed, err), nil
}

func read(data []byte, limits Limits) (*Record, error) {
	if err := check(data, limits); err != nil {
		return nil, err
	}
	text := trimmed(data)
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
			return nil, jsonError(data, 0, needed.name, "this member is needed")
		}
	}
	return r, nil
}

// checkFormat comes before any other member is looked at: a later format may mean
// something else by each of them.
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
	return jsonError(data, 0, "format", "this member is needed")
}

// located turns the way to a bad member into its offset.
func located(data []byte, err error) error {
	f, ok := err.(*fault) //nolint:errorlint // faults are never wrapped
	if !ok {
		return jsonError(data, 0, "", err.Error())
	}
	path := strings.Join(f.path, ".")
	return jsonError(data, gjson.GetBytes(data, path).Index, path, f.cause.Error())
}
