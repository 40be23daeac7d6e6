package interop

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

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
	writeValue(&b, gjson.ParseBytes(doc), 0, false)
	return []byte(b.String()[1:]) // without the character that follows a colon
}

// writeValue writes what follows the ":" of a member or the "-" of an item: an object or a list on
// lines of their own, which start at the given column, or anything else on the same line. inline
// means that the first member of an object stays on the same line too.
func writeValue(b *strings.Builder, v gjson.Result, indent int, inline bool) {
	switch {
	case !v.IsObject() && !v.IsArray() || isEmpty(v):
		b.WriteString(" " + yamlScalar(v) + "\n")
	case v.IsObject() && inline:
		b.WriteByte(' ')
		writeMapping(b, v, indent, inline)
	case v.IsObject():
		b.WriteByte('\n')
		writeMapping(b, v, indent, inline)
	default:
		b.WriteByte('\n')
		for _, e := range v.Array() {
			b.WriteString(strings.Repeat(" ", indent) + "-")
			writeValue(b, e, indent+2, true)
		}
	}
}

// isEmpty reports whether a value is an object without members or a list without items. Block style
// cannot express them.
func isEmpty(v gjson.Result) bool {
	text := strings.TrimSpace(v.Raw)
	return (v.IsObject() || v.IsArray()) && strings.TrimSpace(text[1:len(text)-1]) == ""
}

// maxYAMLKey is the longest name that every reader takes before a colon.
const maxYAMLKey = 1000

// writeMapping writes an object, one member per line. inline means that its first member continues
// the line that "- " started.
func writeMapping(b *strings.Builder, v gjson.Result, indent int, inline bool) {
	began := inline
	v.ForEach(func(key, value gjson.Result) bool {
		if !began {
			b.WriteString(strings.Repeat(" ", indent))
		}
		began = false
		name := yamlText(key.String())
		if len(name) > maxYAMLKey {
			name = "? " + name + "\n" + strings.Repeat(" ", indent)
		}
		b.WriteString(name + ":")
		writeValue(b, value, indent+2, false)
		return true
	})
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
	// The escapes of JSON are also YAML's.
	var b strings.Builder
	for _, r := range string(encode(s)) {
		if r >= 0x7f && r <= 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
