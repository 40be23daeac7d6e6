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

// plainScalar is a text that every YAML reader takes for a text as it stands: no number,
// no date, no word that some take for a truth value.
var plainScalar = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./+-]*(?:[ :]?[A-Za-z0-9_./+()-]+)*$`)
})

var yamlWords = [...]string{"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"}

// jsonToYAML writes a document in block style, members in their order, numbers as they
// are.
func jsonToYAML(doc json.RawMessage) []byte {
	var b strings.Builder
	writeYAML(&b, gjson.ParseBytes(doc), 0, false)
	return []byte(b.String())
}

// writeYAML writes a value; inline says that it goes on a line that has begun.
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

func isEmpty(v gjson.Result) bool {
	empty := true
	v.ForEach(func(_, _ gjson.Result) bool {
		empty = false
		return false
	})
	return empty
}

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

// nest writes the value of a member: on its line, or below it.
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

// yamlScalar writes what has nothing inside it.
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

// yamlText writes a text, in quotes unless nobody could misread it.
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
