package record

import (
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

// fault carries the way to a bad member up to where its offset can be told.
type fault struct {
	path  []string
	cause error
}

func (f *fault) Error() string {
	return fmt.Sprintf("member %q: %v", clip(strings.Join(f.path, "."), 100), f.cause)
}

func (f *fault) Unwrap() error { return f.cause }

func within(part string, err error) error {
	if f, ok := err.(*fault); ok { //nolint:errorlint // faults are never wrapped
		return &fault{append([]string{gjson.Escape(part)}, f.path...), f.cause}
	}
	return &fault{[]string{gjson.Escape(part)}, err}
}

// member binds a name to a codec.
type member struct {
	name  string
	value codec
}

// object is a list of members in their documented order; those that this version
// does not know are written behind them, sorted, and then the members of behind.
type object struct {
	members []member
	extra   *map[string]json.RawMessage
	behind  []member
}

func (o object) omitted() bool { return false }

func (o object) appendTo(dst []byte) ([]byte, error) {
	known := slices.Concat(o.members, o.behind)
	all := slices.Clone(o.members)
	for _, name := range slices.Sorted(maps.Keys(*o.extra)) {
		if slices.ContainsFunc(known, func(m member) bool { return m.name == name }) {
			return nil, within(name, errors.New("a known member among the unknown ones"))
		}
		raw := (*o.extra)[name]
		all = append(all, member{name, anything{&raw, "null"}})
	}
	dst = append(dst, '{')
	for i, m := range slices.DeleteFunc(append(all, o.behind...), func(m member) bool { return m.value.omitted() }) {
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

// list is an array; an empty one is [], or left out.
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

// dict is an object whose names are data.
type dict[T any] struct {
	at   *map[string]T
	bind func(*T) codec
}

func (d dict[T]) omitted() bool { return false }

func (d dict[T]) appendTo(dst []byte) ([]byte, error) {
	items := object{extra: new(map[string]json.RawMessage)}
	for _, name := range slices.Sorted(maps.Keys(*d.at)) {
		item := (*d.at)[name]
		items.members = append(items.members, member{name, d.bind(&item)})
	}
	return items.appendTo(dst)
}

func (d dict[T]) parse(raw []byte) error {
	if raw[0] != '{' {
		return wrongType("an object", raw)
	}
	*d.at = nil
	for name, value := range members(raw) {
		var item T
		if err := d.bind(&item).parse(value); err != nil {
			return within(name, err)
		}
		if *d.at == nil {
			*d.at = make(map[string]T)
		}
		(*d.at)[name] = item
	}
	return nil
}
