package workflow

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxSaid bounds one value in a message.
const maxSaid = 1024

// kind names the type of a decoded value as JSON calls it.
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

// say is how a value reads in a message: texts as they are, lists with commas,
// nothing for null, JSON for objects.
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

// encode writes a decoded value as JSON, whole floats as integers.
func encode(v any) json.RawMessage {
	var b strings.Builder
	write(&b, v)
	return json.RawMessage(b.String())
}

func write(b *strings.Builder, v any) {
	switch v := v.(type) {
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int:
		b.WriteString(strconv.Itoa(v))
	case float64:
		b.WriteString(digitsOf(v))
	case string:
		if !isPlain(v) {
			b.WriteString(quote(v))
			return
		}
		b.WriteByte('"')
		b.WriteString(v)
		b.WriteByte('"')
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, item)
		}
		b.WriteByte(']')
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		b.WriteByte('{')
		for i, name := range names {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quote(name) + ":")
			write(b, v[name])
		}
		b.WriteByte('}')
	default:
		b.WriteString("null")
	}
}

func digitsOf(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "null"
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// quote writes s as a JSON string without escaping what only HTML minds.
func quote(s string) string {
	if isPlain(s) {
		return `"` + s + `"`
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// isPlain reports whether a string is the same in JSON.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] == '"' || s[i] == '\\' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// identity is equal for equal values, 1 and 1.0 included.
func identity(v any) string {
	if s, ok := v.(string); ok {
		return "s" + s
	}
	return "j" + string(encode(v))
}
