package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"git-checkpoint/internal/format/name"
)

// Limits of the JSON that is parsed: nesting depth, and bytes of a document and of a definition.
const (
	maxDepth          = 100
	maxDocumentSize   = 50 << 20
	maxDefinitionSize = 256 << 10
)

// decode reads one JSON value strictly: valid UTF-8, no duplicate keys, at most maxDepth deep and
// at most limit bytes. Integers that fit become int and other numbers float64. The decoded values
// are only used in comparisons; what is stored is always the original text, so no digit gets lost.
func decode(data []byte, limit int) (any, error) { return decodeAt(data, limit, nil) }

// decodeAt is decode that also adds the offset of every value to offsets, by path, unless that is
// nil. The offset is one in the line in which the value begins.
func decodeAt(data []byte, limit int, offsets map[string]int) (any, error) {
	if len(data) > limit {
		return nil, fmt.Errorf("%d bytes of JSON; the limit is %d", len(data), limit)
	}
	if !utf8.Valid(data) {
		return nil, errors.New("not valid UTF-8")
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		if syntax, is := errors.AsType[*json.SyntaxError](err); is {
			return nil, &offsetError{syntax.Offset, "not valid JSON: " + syntax.Error()}
		}
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	d := decoder{jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), offsets}
	return d.value("", 0)
}

// offsetError is an error at a byte offset of the text.
type offsetError struct {
	offset  int64
	problem string
}

func (e *offsetError) Error() string { return e.problem }

// decoder builds the values of valid JSON token by token, because no Unmarshal names the member that
// occurs twice, tells integers from other numbers, and says where a value stood.
type decoder struct {
	*jsontext.Decoder
	offsets map[string]int
}

// fault is an error at the current position.
func (d decoder) fault(format string, args ...any) error {
	return &offsetError{d.InputOffset(), fmt.Sprintf(format, args...)}
}

// value reads one value. path is only right if there are offsets.
func (d decoder) value(path string, depth int) (any, error) {
	token, err := d.ReadToken()
	switch {
	case err != nil:
		return nil, err
	case depth > maxDepth:
		return nil, d.fault("more than %d levels deep", maxDepth)
	case d.offsets != nil:
		d.offsets[path] = int(d.InputOffset())
	}
	switch token.Kind() {
	case '{':
		return d.object(path, depth)
	case '[':
		return d.list(path, depth)
	case '0':
		return decodeNumber(token.String()), nil
	case '"':
		return token.String(), nil
	case 'n':
		return nil, nil
	}
	return token.Bool(), nil
}

func (d decoder) object(path string, depth int) (any, error) {
	members := map[string]any{}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := token.String()
		if _, twice := members[key]; twice {
			return nil, d.fault("member %q occurs twice", shorten(key, 80))
		}
		child := ""
		if d.offsets != nil {
			child = join(path, key)
		}
		if members[key], err = d.value(child, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken() // the brace
	return members, err
}

func (d decoder) list(path string, depth int) (any, error) {
	items := []any{}
	for d.PeekKind() != ']' {
		child := ""
		if d.offsets != nil {
			child = itemPath(path, len(items))
		}
		item, err := d.value(child, depth+1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := d.ReadToken() // the bracket
	return items, err
}

// decodeNumber reads a number. A value that is out of range for float64 becomes the largest finite
// one, because an infinity could not be written back as JSON.
func decodeNumber(digits string) any {
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(digits, 64)
	return max(-math.MaxFloat64, min(math.MaxFloat64, f))
}

// join appends a member name to a path. The path of the document itself is "".
func join(path, member string) string {
	if path == "" {
		return member
	}
	return path + "." + member
}

// shorten cuts s to at most n bytes at a character boundary and appends an ellipsis if it cut
// something.
func shorten(s string, n int) string { return name.Short(s, n) }
