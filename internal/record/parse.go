package record

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// Parse reads a record that may come from anyone. It refuses what is too large, too
// deep or not strictly JSON, a later format (*FormatError), names outside their
// grammar and members of a wrong type; format, id, session, label and created_at
// have to be there. Nothing of data is kept, so the caller may use it again.
func Parse(data []byte, limits Limits) (*Record, error) {
	b := borrow()
	defer b.giveBack()
	return b.parse(data, limits)
}

// ParseSealed is Parse, and Verify of what was parsed: changed is its error. The text is
// looked through once for both.
func ParseSealed(data []byte, limits Limits) (r *Record, changed, err error) {
	b := borrow()
	defer b.giveBack()
	if r, err = b.parse(data, limits); err != nil {
		return nil, nil, err
	}
	computed, err := sum(&b.apart, data)
	return r, compare(r, computed, err), nil
}

func (b *binding) parse(data []byte, limits Limits) (*Record, error) {
	r, err := b.read(data, limits.orDefault(MaxDepth))
	if err != nil {
		return nil, fmt.Errorf("parsing record: %w", err)
	}
	return r, nil
}

func (b *binding) read(data []byte, limits Limits) (*Record, error) {
	if err := b.apart.take(data, limits); err != nil {
		return nil, err
	}
	text := bytes.TrimSpace(data)
	if text[0] != '{' {
		return nil, jsonError(data, len(data)-len(bytes.TrimLeft(data, " \t\r\n")), "", wrongType("an object", text).Error())
	}
	if err := checkFormat(data, text); err != nil {
		return nil, err
	}
	whole, ok := b.apart.outermost()
	if !ok {
		whole.raw = text
	}
	b.record = Record{}
	if err := b.members.parse(whole); err != nil {
		return nil, located(data, err)
	}
	r := new(Record)
	*r = b.record
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

// binding is a record with its members bound to their codecs, and a text taken apart: to
// make them takes longer than to read most records, of which there may be thousands.
type binding struct {
	record  Record
	members object
	apart   apart
}

var bindings sync.Pool

func borrow() *binding {
	b, ok := bindings.Get().(*binding)
	if !ok {
		b = new(binding)
		b.members = b.record.object()
	}
	return b
}

func (b *binding) giveBack() {
	b.record, b.apart.data = Record{}, nil
	bindings.Put(b)
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
