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

// Bounds of what is parsed. Deeper or larger documents are refused by name.
const (
	maxDepth          = 100
	maxDocumentSize   = 50 << 20
	maxDefinitionSize = 256 << 10
)

// decode reads one JSON value strictly: valid UTF-8, no duplicate keys, at most
// maxDepth deep. Integers that fit become int, other numbers float64; they serve
// comparisons only, the text stays what is stored.
func decode(data []byte, limit int) (any, error) {
	return decodeAt(data, limit, nil)
}

// decodeAt also reports every value's path and offset, for messages.
func decodeAt(data []byte, limit int, visit func(path string, offset int)) (any, error) {
	if len(data) > limit {
		return nil, fmt.Errorf("%d bytes of JSON are more than %d", len(data), limit)
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

// invalid says what is wrong with text that is no JSON.
func invalid(data []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return &offsetError{syntax.Offset, "not valid JSON: " + syntax.Error()}
	}
	return fmt.Errorf("not valid JSON: %w", err)
}

// offsetError carries where in the text something is wrong.
type offsetError struct {
	offset  int64
	problem string
}

func (e *offsetError) Error() string { return e.problem }

// decoder walks text that json.Unmarshal found valid, so it need not look for
// syntax errors itself; it stops at the first problem of its own.
type decoder struct {
	data  []byte
	pos   int
	visit func(path string, offset int)
	err   error
}

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

// next moves to the next member or item and past the closing bracket at the end.
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

// join puts a member's name after a path, as messages write it.
func join(path, member string) string {
	if path == "" {
		return member
	}
	return path + "." + member
}

// shorten cuts s to n bytes at a character, marked with an ellipsis.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
