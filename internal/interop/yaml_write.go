package interop

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// plainScalar matches strings that every YAML reader takes for a string without quotes. It requires
// a letter in front, so that numbers and dates do not match; yamlWords has the remaining
// exceptions.
var plainScalar = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./+-]*(?:[ :]?[A-Za-z0-9_./+()-]+)*$`)
})

// yamlWords are the strings that some readers take for a boolean, null or a number.
var yamlWords = [...]string{"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"}

// jsonToYAML converts JSON to YAML in block style. Members keep their order and numbers their
// digits. It writes only what yamlToJSON reads back as the same JSON.
func jsonToYAML(doc json.RawMessage) []byte {
	var b strings.Builder
	writeYAML(&b, gjson.ParseBytes(doc), 0, false)
	return []byte(b.String())
}

// writeYAML writes a value at an indentation. inline means that the line has already been started.
func writeYAML(b *strings.Builder, v gjson.Result, indent int, inline bool) {
	switch {
	case v.IsObject() && !isEmpty(v):
		writeMapping(b, v, indent, inline)
	case v.IsArray() && len(v.Array()) > 0:
		writeSequence(b, v, indent)
	default:
		b.WriteString(yamlScalar(v) + "\n")
	}
}

// isEmpty reports whether an object has no members. Block style cannot express an empty object.
func isEmpty(v gjson.Result) bool {
	empty := true
	v.ForEach(func(_, _ gjson.Result) bool {
		empty = false
		return false
	})
	return empty
}

// writeMapping writes an object, one member per line. inline means that its first member continues
// the line that "- " started.
func writeMapping(b *strings.Builder, v gjson.Result, indent int, inline bool) {
	began := inline
	v.ForEach(func(key, value gjson.Result) bool {
		if !began {
			b.WriteString(strings.Repeat(" ", indent))
		}
		began = false
		b.WriteString(yamlText(key.String()) + ":")
		nest(b, value, indent)
		return true
	})
}

// nest writes the value of a member after its colon: an object or list on the following lines, two
// columns deeper, anything else on the same line.
func nest(b *strings.Builder, v gjson.Result, indent int) {
	switch {
	case v.IsObject() && !isEmpty(v):
		b.WriteByte('\n')
		writeMapping(b, v, indent+2, false)
	case v.IsArray() && len(v.Array()) > 0:
		b.WriteByte('\n')
		writeSequence(b, v, indent+2)
	default:
		b.WriteString(" " + yamlScalar(v) + "\n")
	}
}

// writeSequence writes a list. Its items start at the given column with "-".
func writeSequence(b *strings.Builder, v gjson.Result, indent int) {
	for _, e := range v.Array() {
		b.WriteString(strings.Repeat(" ", indent) + "-")
		switch {
		case e.IsObject() && !isEmpty(e):
			b.WriteByte(' ')
			writeMapping(b, e, indent+2, true)
		case e.IsArray() && len(e.Array()) > 0:
			b.WriteByte('\n')
			writeSequence(b, e, indent+2)
		default:
			b.WriteString(" " + yamlScalar(e) + "\n")
		}
	}
}

// yamlScalar returns a value that fits on one line.
func yamlScalar(v gjson.Result) string {
	switch {
	case v.IsObject():
		return "{}"
	case v.IsArray():
		return "[]"
	case v.Type == gjson.String:
		return yamlText(v.String())
	}
	return strings.TrimSpace(v.Raw)
}

// yamlText returns a string, in double quotes unless it is certain that nobody reads it as
// something else. Characters that YAML does not allow, or that readers treat as line breaks, are
// escaped.
func yamlText(s string) string {
	if plainScalar().MatchString(s) && len(s) < 200 && !slices.Contains(yamlWords[:], strings.ToLower(s)) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20, r >= 0x7f && r <= 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r >= 0xd800 && r <= 0xdfff, r == 0xfffe, r == 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(string(utf8.AppendRune(nil, r)))
		}
	}
	return b.String() + `"`
}
