package record

// A codec connects a Go variable with its JSON form. The tables in members.go bind one to each
// member of a record, and the same table then serves for writing and for reading. encoding/json
// cannot replace them: it would lose the order of members, unknown members, the difference between
// null and absent, and the position of errors. This file has the codecs of simple values;
// codec_tree.go has objects and lists, codec_path.go has paths.

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// codec writes and reads one value. It is bound to a variable, in most types by a field named at.
type codec interface {
	// appendTo appends the value as compact JSON, or returns an error if it breaks the format.
	appendTo(dst []byte) ([]byte, error)
	// parse reads one JSON value, which must be valid and without space around it, into the
	// variable.
	parse(raw []byte) error
}

// omissible is a codec of a member that may be left out, as omitted reports of the present value.
type omissible interface {
	codec
	omitted() bool
}

// isOmitted reports whether a member is to be left out.
func (m member) isOmitted() bool {
	may, is := m.value.(omissible)
	return is && may.omitted()
}

// absence is how an empty value is written.
type absence int

const (
	asEmpty   absence = iota // as an ordinary value: "", 0, []
	asNull                   // as null
	asNothing                // the member is left out
)

// word is a string. accept checks its grammar and converts it; nil accepts any text.
type word[T ~string] struct {
	at     *T
	accept func(string) (T, error)
	empty  absence
}

func (w word[T]) omitted() bool { return *w.at == "" && w.empty == asNothing }

func (w word[T]) appendTo(dst []byte) ([]byte, error) {
	if *w.at == "" && w.empty == asNull {
		return append(dst, "null"...), nil
	}
	if !utf8.ValidString(string(*w.at)) {
		return nil, fmt.Errorf("%q is not UTF-8", clip(string(*w.at), 100))
	}
	if w.accept != nil {
		if _, err := w.accept(string(*w.at)); err != nil {
			return nil, err
		}
	}
	return appendText(dst, string(*w.at)), nil
}

func (w word[T]) parse(raw []byte) (err error) {
	switch {
	case w.empty == asNull && string(raw) == "null":
		*w.at = ""
		return nil
	case raw[0] != '"':
		return wrongType("a string", raw)
	case w.accept == nil:
		*w.at = T(unquote(raw))
		return nil
	}
	*w.at, err = w.accept(unquote(raw))
	return err
}

// integer is a number of things: not negative and without a fraction.
type integer[T ~int | ~int64] struct {
	at    *T
	limit T // maximum; 0: none
	empty absence
}

func (n integer[T]) omitted() bool { return *n.at == 0 && n.empty == asNothing }

func (n integer[T]) appendTo(dst []byte) ([]byte, error) {
	if err := n.inRange(); err != nil {
		return nil, err
	}
	return strconv.AppendInt(dst, int64(*n.at), 10), nil
}

func (n integer[T]) parse(raw []byte) error {
	i, err := strconv.ParseInt(string(raw), 10, 64)
	// The conversion loses bits if T is int on a 32-bit machine.
	if err != nil || int64(T(i)) != i {
		return wrongType("an integer", raw)
	}
	*n.at = T(i)
	return n.inRange()
}

func (n integer[T]) inRange() error {
	if *n.at < 0 || n.limit > 0 && *n.at > n.limit {
		return fmt.Errorf("%d is out of range", *n.at)
	}
	return nil
}

// flag is a boolean.
type flag struct{ at *bool }

func (f flag) appendTo(dst []byte) ([]byte, error) { return strconv.AppendBool(dst, *f.at), nil }

func (f flag) parse(raw []byte) error {
	if raw[0] != 't' && raw[0] != 'f' {
		return wrongType("true or false", raw)
	}
	*f.at = raw[0] == 't'
	return nil
}

// instant is a time in UTC. It is written with exactly three digits of the second's fraction, and
// read in any RFC 3339 form.
type instant struct{ at *time.Time }

// timeForm has a fixed number of digits, so that equal times have equal texts.
const timeForm = "2006-01-02T15:04:05.000Z"

func (t instant) appendTo(dst []byte) ([]byte, error) {
	if y := t.at.UTC().Year(); t.at.IsZero() || y < 1 || y > 9999 {
		return nil, fmt.Errorf("not a time that RFC 3339 can express: %v", *t.at)
	}
	return append(append(append(dst, '"'), formatTime(*t.at)...), '"'), nil
}

func (t instant) parse(raw []byte) error {
	if raw[0] != '"' {
		return wrongType("a time", raw)
	}
	at, err := time.Parse(time.RFC3339, unquote(raw))
	if err != nil || at.UTC().Year() < 1 || at.UTC().Year() > 9999 || at.IsZero() {
		return fmt.Errorf("not an RFC 3339 time: %q", clip(unquote(raw), 100))
	}
	*t.at = at.UTC().Truncate(time.Millisecond)
	return nil
}

func formatTime(t time.Time) string { return t.UTC().Format(timeForm) }

// anything is an arbitrary JSON value, kept as it is written. none is what nil is written as: "{}"
// or "null".
type anything struct {
	at   *json.RawMessage
	none string
}

func (a anything) appendTo(dst []byte) ([]byte, error) {
	if len(*a.at) == 0 {
		return append(dst, a.none...), nil
	}
	if !json.Valid(*a.at) || !utf8.Valid(*a.at) {
		return nil, errors.New("not JSON")
	}
	return append(dst, *a.at...), nil
}

func (a anything) parse(raw []byte) error {
	if *a.at = slices.Clone(raw); string(raw) == "null" && a.none == "null" {
		*a.at = nil
	}
	return nil
}

// wrongType returns the error for a value of the wrong JSON type.
func wrongType(want string, raw []byte) error {
	return fmt.Errorf("expected %s here, not %s", want, clip(string(raw), 60))
}
