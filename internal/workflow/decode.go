package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
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
func decode(data []byte, limit int) (any, error) {
	return decodeAt(data, limit, nil)
}

// decodeAt is decode that also calls visit with the path and byte offset of every value. Messages
// use the offsets to find the line of a member. visit may be nil.
func decodeAt(data []byte, limit int, visit func(path string, offset int)) (any, error) {
	if len(data) > limit {
		return nil, fmt.Errorf("%d bytes of JSON; the limit is %d", len(data), limit)
	}
	if !utf8.Valid(data) {
		return nil, errors.New("not valid UTF-8")
	}
	if !json.Valid(data) {
		return nil, invalid(data)
	}
	d := decoder{data: data, visit: visit}
	value := d.value("", 0)
	if d.err != nil {
		return nil, d.err
	}
	return value, nil
}

// invalid returns the error for text that is not JSON, with the offset if encoding/json knows it.
func invalid(data []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return &offsetError{syntax.Offset, "not valid JSON: " + syntax.Error()}
	}
	return fmt.Errorf("not valid JSON: %w", err)
}

// offsetError is an error at a byte offset of the text.
type offsetError struct {
	offset  int64
	problem string
}

func (e *offsetError) Error() string { return e.problem }

// decoder is a recursive descent parser for text that json.Valid has accepted, so it does not have
// to detect syntax errors. It exists because encoding/json silently accepts duplicate keys, decodes
// every number to float64 and does not tell where a value stood.
//
// At the first error of its own it moves pos to the end of data, which ends all loops above it.
type decoder struct {
	data  []byte
	pos   int
	visit func(path string, offset int)
	err   error
}

// fail records the first error, at the current position. It returns nil for use as a value.
func (d *decoder) fail(format string, args ...any) any {
	if d.err == nil {
		d.err = &offsetError{int64(d.pos), fmt.Sprintf(format, args...)}
		d.pos = len(d.data)
	}
	return nil
}

func (d *decoder) space() {
	for d.pos < len(d.data) && strings.IndexByte(" \t\r\n", d.data[d.pos]) >= 0 {
		d.pos++
	}
}

// value reads one value. path is only maintained if there is a visitor that needs it.
func (d *decoder) value(path string, depth int) any {
	d.space()
	if d.err != nil || d.pos >= len(d.data) {
		return nil
	}
	if depth > maxDepth {
		return d.fail("more than %d levels deep", maxDepth)
	}
	if d.visit != nil {
		d.visit(path, d.pos)
	}
	switch c := d.data[d.pos]; c {
	case '{':
		return d.object(path, depth)
	case '[':
		return d.list(path, depth)
	case '"':
		return d.text()
	case 't':
		d.pos += len("true")
		return true
	case 'f':
		d.pos += len("false")
		return false
	case 'n':
		d.pos += len("null")
		return nil
	default:
		return d.number()
	}
}

func (d *decoder) object(path string, depth int) any {
	members := map[string]any{}
	d.pos++
	for d.next('}') {
		start := d.pos
		key := d.text()
		d.space()
		d.pos++ // the colon
		if _, twice := members[key]; twice {
			d.pos = start
			return d.fail("member %q occurs twice", shorten(key, 80))
		}
		members[key] = d.value(d.child(path, key), depth+1)
	}
	return members
}

func (d *decoder) list(path string, depth int) any {
	items := []any{}
	d.pos++
	for d.next(']') {
		child := ""
		if d.visit != nil {
			child = path + "[" + strconv.Itoa(len(items)) + "]"
		}
		items = append(items, d.value(child, depth+1))
	}
	return items
}

func (d *decoder) child(path, key string) string {
	if d.visit == nil {
		return ""
	}
	return join(path, key)
}

// next moves to the next member or item, skipping a comma. At the closing bracket it moves past it
// and returns false.
func (d *decoder) next(end byte) bool {
	d.space()
	if d.err != nil || d.pos >= len(d.data) {
		return false
	}
	if d.data[d.pos] == ',' {
		d.pos++
		d.space()
	}
	if d.data[d.pos] == end {
		d.pos++
		return false
	}
	return true
}

// text reads a string. Only strings with escapes need encoding/json to decode them.
func (d *decoder) text() string {
	start := d.pos
	escaped := false
	for d.pos++; d.pos < len(d.data) && d.data[d.pos] != '"'; d.pos++ {
		if d.data[d.pos] == '\\' {
			escaped = true
			d.pos++
		}
	}
	d.pos++
	if !escaped {
		return string(d.data[start+1 : d.pos-1])
	}
	var s string
	if err := json.Unmarshal(d.data[start:d.pos], &s); err != nil {
		d.fail("not valid JSON: %v", err)
	}
	return s
}

// number reads a number. A value that is out of range for float64 becomes the largest finite one,
// because an infinity could not be written back as JSON.
func (d *decoder) number() any {
	start := d.pos
	for d.pos < len(d.data) && strings.IndexByte("+-.eE0123456789", d.data[d.pos]) >= 0 {
		d.pos++
	}
	digits := string(d.data[start:d.pos])
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
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
