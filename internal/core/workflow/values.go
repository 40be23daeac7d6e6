package workflow

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"git-checkpoint/internal/sys/gather"
)

// maxSaid is the number of bytes of one value that a message shows.
const maxSaid = 1024

// kind names the JSON type of a decoded value, with an article, for messages.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case int, float64:
		return "a number"
	case string:
		return "a text"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a value"
}

// say formats a value for a message: text as it is, a list with commas between the items, null as
// nothing, and objects as JSON.
func say(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return shorten(v, maxSaid)
	case []any:
		return joined(v, ", ")
	}
	return shorten(string(encode(v)), maxSaid)
}

// joined formats a list with a separator. It stops when the text is long enough to be cut anyway.
func joined(items []any, separator string) string {
	var b strings.Builder
	for i, item := range items {
		if i > 0 {
			b.WriteString(separator)
		}
		if b.Len() > maxSaid {
			break
		}
		b.WriteString(say(item))
	}
	return shorten(b.String(), maxSaid)
}

// encode writes a decoded value as JSON. Object members are sorted and floats that are whole
// numbers are written as integers, so equal values have the same encoding.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(exact(v)) != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// exact returns a value with each float in it as the digits that encode writes.
func exact(v any) any {
	switch v := v.(type) {
	case float64:
		return json.RawMessage(digitsOf(v))
	case []any:
		return gather.List(v, exact)
	case map[string]any:
		members := make(map[string]any, len(v))
		for name, member := range v {
			members[name] = exact(member)
		}
		return members
	}
	return v
}

// digitsOf formats a float: without exponent or fraction if it is a whole number that float64
// represents exactly.
func digitsOf(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "null"
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// identity returns a string that is the same for equal values, where 1 and 1.0 are equal. The first
// letter keeps a text apart from a value whose JSON looks like it.
func identity(v any) string {
	if s, ok := v.(string); ok {
		return "s" + s
	}
	return "j" + string(encode(v))
}
