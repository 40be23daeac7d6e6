package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// fault is an error with the path to the bad member. Codecs know nothing of the whole text, so the
// path is collected on the way up (within), and located then finds its offset.
type fault struct {
	path  []string // parts of a gjson path, escaped
	cause error
}

func (f *fault) Error() string {
	return fmt.Sprintf("member %q: %v", clip(strings.Join(f.path, "."), 100), f.cause)
}

func (f *fault) Unwrap() error { return f.cause }

// within adds a part, the name or index of the value that err is about, to the front of the path.
func within(part string, err error) error {
	if f, ok := err.(*fault); ok { //nolint:errorlint // faults are never wrapped
		return &fault{append([]string{gjson.Escape(part)}, f.path...), f.cause}
	}
	return &fault{[]string{gjson.Escape(part)}, err}
}

// member is a named value in an object.
type member struct {
	name  string
	value codec
}

// object is a JSON object with known members. They are written in the order given, then unknown
// members sorted by name, then those in behind. When reading, any order is accepted, and unknown
// members go to extra.
type object struct {
	members []member
	extra   *map[string]json.RawMessage
	behind  []member
}

func (o object) appendTo(dst []byte) ([]byte, error) {
	known := slices.Concat(o.members, o.behind)
	all := slices.Clone(o.members)
	for _, name := range slices.Sorted(maps.Keys(*o.extra)) {
		// Extra is a public field. A caller that put a known name there would write a duplicate
		// member, which Parse rejects.
		if slices.ContainsFunc(known, func(m member) bool { return m.name == name }) {
			return nil, within(name, errors.New("a known member among the unknown ones"))
		}
		raw := (*o.extra)[name]
		all = append(all, member{name, anything{&raw, "null"}})
	}
	dst = append(dst, '{')
	for i, m := range slices.DeleteFunc(append(all, o.behind...), member.isOmitted) {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if !utf8.ValidString(m.name) {
			return nil, fmt.Errorf("member name %q is not UTF-8", clip(m.name, 100))
		}
		if dst, err = m.value.appendTo(append(appendText(dst, m.name), ':')); err != nil {
			return nil, within(m.name, err)
		}
	}
	return append(dst, '}'), nil
}

func (o object) parse(raw []byte) error {
	if raw[0] != '{' {
		return wrongType("an object", raw)
	}
	known := o.members
	if len(o.behind) > 0 {
		known = slices.Concat(o.members, o.behind)
	}
	// Parse in the order of the table, not of the text: encoding must come after plainPath.
	given := make([][]byte, len(known))
	*o.extra = nil
	for name, value := range members(raw) {
		if i := slices.IndexFunc(known, func(m member) bool { return m.name == name }); i >= 0 {
			given[i] = value
			continue
		}
		if *o.extra == nil {
			*o.extra = map[string]json.RawMessage{}
		}
		(*o.extra)[name] = slices.Clone(value)
	}
	for i, value := range given {
		if value != nil {
			if err := known[i].value.parse(value); err != nil {
				return within(known[i].name, err)
			}
		}
	}
	return nil
}

// list is an array whose elements are written and read by the codec that bind returns.
type list[T any] struct {
	at    *[]T
	bind  func(*T) codec
	empty absence
}

func (l list[T]) omitted() bool { return len(*l.at) == 0 && l.empty == asNothing }

func (l list[T]) appendTo(dst []byte) (_ []byte, err error) {
	dst = append(dst, '[')
	for i := range *l.at {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = l.bind(&(*l.at)[i]).appendTo(dst); err != nil {
			return nil, within(strconv.Itoa(i), err)
		}
	}
	return append(dst, ']'), nil
}

func (l list[T]) parse(raw []byte) error {
	if raw[0] != '[' {
		return wrongType("a list", raw)
	}
	*l.at = nil
	for element := range elements(raw) {
		var item T
		if err := l.bind(&item).parse(element); err != nil {
			return within(strconv.Itoa(len(*l.at)), err)
		}
		*l.at = append(*l.at, item)
	}
	return nil
}

// dict is an object whose member names are data. It is written sorted by name. accept checks the
// grammar of a name; nil accepts any.
type dict[T any] struct {
	at     *map[string]T
	bind   func(*T) codec
	accept func(string) (string, error)
}

func (d dict[T]) appendTo(dst []byte) ([]byte, error) {
	items := object{extra: new(map[string]json.RawMessage)}
	for _, name := range slices.Sorted(maps.Keys(*d.at)) {
		if err := d.check(name); err != nil {
			return nil, err
		}
		item := (*d.at)[name]
		items.members = append(items.members, member{name, d.bind(&item)})
	}
	return items.appendTo(dst)
}

// check returns an error for a member name that is not accepted.
func (d dict[T]) check(name string) error {
	if d.accept == nil {
		return nil
	}
	_, err := d.accept(name)
	return err
}

func (d dict[T]) parse(raw []byte) error {
	if raw[0] != '{' {
		return wrongType("an object", raw)
	}
	*d.at = nil
	for name, value := range members(raw) {
		var item T
		if err := cmp.Or(d.check(name), d.bind(&item).parse(value)); err != nil {
			return within(name, err)
		}
		if *d.at == nil {
			*d.at = make(map[string]T)
		}
		(*d.at)[name] = item
	}
	return nil
}
