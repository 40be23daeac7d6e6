package interop

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/tidwall/gjson"
)

// simpleText is what may stand without quotes in any style.
var simpleText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]{4,}[0-9]+$`) })

// yaml writes JSON as YAML in one of the many ways that people and libraries do. It
// knows nothing of the writer that is tested.
func (g *gen) yaml(doc json.RawMessage) []byte {
	var b strings.Builder
	b.WriteString(pick(g, "", "", "---\n", "# made by hand\n", "%YAML 1.2\n---\n"))
	y := &yamlStyles{gen: g, b: &b, step: pick(g, 2, 2, 4)}
	y.block(gjson.ParseBytes(doc), 0)
	b.WriteString(pick(g, "", "", "\n", "# the end\n"))
	return []byte(b.String())
}

type yamlStyles struct {
	*gen
	b    *strings.Builder
	step int
}

// block writes an object, one member a line.
func (y *yamlStyles) block(v gjson.Result, indent int) {
	pad := strings.Repeat(" ", indent)
	v.ForEach(func(key, value gjson.Result) bool {
		name := y.scalar(key)
		if len(name) > maxYAMLKey {
			name = "? " + name + "\n" + pad
		}
		y.b.WriteString(pad + name + ":")
		switch {
		case value.IsObject() && !isEmpty(value) && y.chance(80):
			y.b.WriteString(pick(y.gen, "\n", " # below\n"))
			y.block(value, indent+y.step)
		case value.IsArray() && len(value.Array()) > 0 && y.chance(70):
			y.b.WriteString("\n")
			y.sequence(value, indent+pick(y.gen, 0, y.step))
		case value.Type == gjson.String && isLiteral(value.Str) && y.chance(60):
			y.literal(value.Str, indent)
		default:
			y.b.WriteString(" " + y.flow(value) + pick(y.gen, "", "", " # said") + "\n")
		}
		return true
	})
}

func (y *yamlStyles) sequence(v gjson.Result, indent int) {
	pad := strings.Repeat(" ", indent)
	for _, e := range v.Array() {
		if e.IsObject() && !isEmpty(e) && y.chance(70) {
			var inner strings.Builder
			(&yamlStyles{gen: y.gen, b: &inner, step: y.step}).block(e, indent+2)
			y.b.WriteString(pad + "- " + strings.TrimLeft(inner.String(), " "))
			continue
		}
		y.b.WriteString(pad + "- " + y.flow(e) + "\n")
	}
}

// flow writes a value on one line.
func (y *yamlStyles) flow(v gjson.Result) string {
	var parts []string
	switch {
	case v.IsObject():
		v.ForEach(func(key, value gjson.Result) bool {
			parts = append(parts, y.scalar(key)+": "+y.flow(value))
			return true
		})
		return "{" + strings.Join(parts, ", ") + "}"
	case v.IsArray():
		for _, e := range v.Array() {
			parts = append(parts, y.flow(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return y.scalar(v)
}

func (y *yamlStyles) scalar(v gjson.Result) string {
	if v.Type == gjson.Null {
		return pick(y.gen, "null", "~")
	}
	if v.Type != gjson.String {
		return v.Raw
	}
	s := v.Str
	if simpleText().MatchString(s) && y.chance(80) {
		return s
	}
	plain := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r > 0x7e }) < 0
	if plain && y.chance(50) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"', r == '\\':
			b.WriteString("\\" + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r < 0x80 && unicode.IsPrint(r), r > 0xa0 && unicode.IsPrint(r) && y.chance(70):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	return `"` + b.String() + `"`
}

// isLiteral says that a text can stand as a block of lines.
func isLiteral(s string) bool {
	return strings.Contains(s, "\n") && !strings.HasPrefix(s, "\n") && !strings.HasPrefix(s, " ") && !strings.HasSuffix(s, "\n\n") && strings.IndexFunc(s, func(r rune) bool {
		return r != '\n' && (!unicode.IsPrint(r) || r > 0x7e)
	}) < 0
}

func (y *yamlStyles) literal(s string, indent int) {
	keep := "|-"
	if strings.HasSuffix(s, "\n") {
		keep = "|"
	}
	y.b.WriteString(" " + keep + "\n")
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		if line != "" {
			line = strings.Repeat(" ", indent+y.step) + line
		}
		y.b.WriteString(line + "\n")
	}
}

// maxYAMLKey is the longest name that every reader takes before a colon.
const maxYAMLKey = 1000

// isEmpty reports whether a value is an object without members or a list without items. Block style
// cannot express them.
func isEmpty(v gjson.Result) bool {
	text := strings.TrimSpace(v.Raw)
	return (v.IsObject() || v.IsArray()) && strings.TrimSpace(text[1:len(text)-1]) == ""
}
