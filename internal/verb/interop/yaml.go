package interop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/lazy"
)

// Limits of a YAML document. The parser makes a node of some 300 bytes for each value. Within these
// limits any document is read or refused in 64 MiB.
const (
	maxYAML      = 1 << 20
	maxMarks     = 60_000 // lines and characters that may begin or end a value
	maxYAMLDepth = 95
	maxNodes     = 2_000_000 // values after aliases are expanded
)

// yamlToJSON converts one YAML document to JSON. Members keep their order and numbers their digits.
// It refuses what other readers interpret differently (duplicate members, merge keys, several
// documents) and what would not end (aliases to themselves).
//
// The conversion works on the syntax tree instead of decoding into Go values, because those would
// lose the order of members and the digits of numbers.
func yamlToJSON(data []byte) (json.RawMessage, error) {
	data = unmarked(data)
	if bytes.HasPrefix(data, []byte("%YAML 1.2")) { // the parser knows the word for 1.1 only, and reads both
		data = append([]byte("%YAML 1.1"), data[len("%YAML 1.2"):]...)
	}
	if len(data) > maxYAML {
		return nil, fmt.Errorf("%d bytes of YAML; the limit is %d", len(data), maxYAML)
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if !utf8.Valid(line) {
			return nil, fmt.Errorf("line %d: not UTF-8", number)
		}
		if bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\r\n", r) || r == 0x7f }) {
			return nil, fmt.Errorf("line %d: a control character", number)
		}
	}
	if countMarks(data) > maxMarks {
		return nil, fmt.Errorf("more than %d lines, brackets, commas, colons, dashes and similar characters", maxMarks)
	}
	var body *yaml.Node
	for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var document yaml.Node
		switch err := d.Decode(&document); {
		case errors.Is(err, io.EOF) && body == nil:
			return nil, errors.New("it is empty")
		case errors.Is(err, io.EOF):
			c := &yamlReader{open: map[*yaml.Node]bool{}}
			err = c.value(body, 0)
			return json.RawMessage(c.out.Bytes()), err
		case err != nil: // it has the line
			return nil, errors.New("not YAML: " + strings.TrimPrefix(err.Error(), "yaml: "))
		case document.Content[0].Tag == "!!null" && document.Content[0].Value == "":
			// What ends in "---" has an empty one after it.
		case body != nil:
			return nil, yamlFault(document.Content[0], "more than one document")
		default:
			body = document.Content[0]
		}
	}
}

// countMarks counts the lines and the characters that may begin or end a value.
func countMarks(data []byte) int {
	marks := 1
	for i, b := range data {
		switch b {
		case '[', ']', '{', '}', ',', '&', '*', '!', '#', '\'', '"', '\n', '\r':
			marks++
		case ':', '-', '?': // only before a blank or, in brackets, before a delimiter
			if i+1 == len(data) || bytes.IndexByte([]byte(" \t\r\n,[]{}:"), data[i+1]) >= 0 {
				marks++
			}
		}
	}
	return marks
}

// yamlReader converts a syntax tree to JSON.
type yamlReader struct {
	out bytes.Buffer // receives the JSON
	// open has the nodes that are being written. An alias to one of them would never end.
	open  map[*yaml.Node]bool
	nodes int // counts the values written, with aliases expanded
}

// yamlFault returns an error with the line of a node.
func yamlFault(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %s", n.Line, fmt.Sprintf(format, args...))
}

// value writes any node. Aliases are expanded, so the number of values is checked here: a few lines
// of nested aliases can stand for billions of values. Of the tags that are written out, only !!str
// changes anything. Tags other than YAML's own name types of a programming language, which a careless
// reader would instantiate, and are refused.
func (c *yamlReader) value(n *yaml.Node, depth int) error {
	if c.nodes++; c.nodes > maxNodes || c.out.Len() > maxDocument {
		return yamlFault(n, "its aliases expand to more than %d values", maxNodes)
	}
	if depth > maxYAMLDepth {
		return yamlFault(n, "nested more than %d deep", maxYAMLDepth)
	}
	if n.Style&yaml.TaggedStyle != 0 && !slices.Contains([]string{"!!str", "!!map", "!!seq", "!!int", "!!float", "!!bool", "!!null", "!!timestamp"}, n.Tag) {
		return yamlFault(n, "the tag %q names a type", n.Tag)
	}
	c.open[n] = true
	defer delete(c.open, n)
	switch n.Kind {
	case yaml.MappingNode:
		return c.mapping(n, depth)
	case yaml.SequenceNode:
		c.out.WriteByte('[')
		for i, v := range n.Content {
			if i > 0 {
				c.out.WriteByte(',')
			}
			if err := c.value(v, depth+1); err != nil {
				return err
			}
		}
		c.out.WriteByte(']')
	case yaml.AliasNode:
		if c.open[n.Alias] {
			return yamlFault(n, "the alias %q names nothing that is complete", n.Value)
		}
		return c.value(n.Alias, depth)
	default:
		c.scalar(n)
	}
	return nil
}

// mapping writes an object. Merge keys are refused, because readers disagree on them. The name of a
// member is text, or a number, boolean or null as it is spelled. JSON has no other names.
func (c *yamlReader) mapping(n *yaml.Node, depth int) error {
	seen := make(map[string]bool, len(n.Content)/2)
	c.out.WriteByte('{')
	for i := 0; i < len(n.Content); i += 2 {
		switch key := n.Content[i]; {
		case key.Tag == "!!merge":
			return yamlFault(key, "a merge key")
		case key.Kind != yaml.ScalarNode:
			return yamlFault(key, "a member whose name is not text")
		case seen[key.Value]:
			return yamlFault(key, "a second member called %q", key.Value)
		case i > 0:
			c.out.WriteByte(',')
		}
		name := n.Content[i].Value
		seen[name] = true
		c.out.Write(encode(name))
		c.out.WriteByte(':')
		if err := c.value(n.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	c.out.WriteByte('}')
	return nil
}

// scalar writes a single value. A number keeps its own digits if they are valid JSON. Otherwise it is
// written without the "+" and "_" that only YAML allows, else converted from another base exactly.
// What JSON does not have, as infinity, is written as a string.
func (c *yamlReader) scalar(n *yaml.Node) {
	tag, quoted := n.Tag, n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if n.Style&yaml.TaggedStyle != 0 && tag != "!!str" && !quoted {
		tag = (&yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}).ShortTag()
	}
	plain := strings.ReplaceAll(strings.TrimPrefix(n.Value, "+"), "_", "")
	switch {
	case quoted || n.Style&yaml.TaggedStyle != 0 && tag == "!!str":
	case tag == "!!null":
		c.out.WriteString("null")
		return
	case tag == "!!bool":
		c.out.WriteString(strconv.FormatBool(strings.EqualFold(n.Value, "true")))
		return
	// The parser takes a number with too many digits for a string. Other readers do not.
	case longNumber().MatchString(n.Value):
		c.out.WriteString(strings.TrimPrefix(n.Value, "+"))
		return
	case tag != "!!int" && tag != "!!float", tag == "!!float" && leadingZero().MatchString(plain): // such as the id of a commit
	case json.Valid([]byte(plain)):
		c.out.WriteString(plain)
		return
	default:
		if whole, ok := new(big.Int).SetString(plain, 0); ok {
			c.out.WriteString(whole.String())
			return
		}
		if f, _, err := big.ParseFloat(plain, 10, 200, big.ToNearestEven); err == nil && !f.IsInf() && len(plain) < 100 {
			c.out.WriteString(f.Text('g', 40))
			return
		}
	}
	c.out.Write(encode(n.Value))
}

// longNumber matches what every YAML reader takes for a decimal number, however long it is.
var longNumber = lazy.Pattern(`^[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$`)

var leadingZero = lazy.Pattern(`^-?0[0-9]`)

// plainScalar matches strings that every YAML reader takes for a string without quotes. It requires
// a letter in front, so that numbers and dates do not match; yamlWords has the remaining
// exceptions.
var plainScalar = lazy.Pattern(`^[A-Za-z][A-Za-z0-9_./+-]*(?:[ :]?[A-Za-z0-9_./+()-]+)*$`)

// yamlWords are the strings that some readers take for a boolean, null or a number.
var yamlWords = [...]string{"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"}

// jsonToYAML converts JSON to YAML in block style. Members keep their order and numbers their
// digits. It writes only what yamlToJSON reads back as the same JSON.
func jsonToYAML(doc json.RawMessage) []byte {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	e.Encode(yamlNode(gjson.ParseBytes(doc))) //nolint:errcheck // a buffer takes everything
	return escapes().ReplaceAllFunc(b.Bytes(), func(escape []byte) []byte {
		var r rune
		if _, err := fmt.Sscanf(string(escape), `\U%x`, &r); err != nil { // a backslash of the text
			return escape
		}
		return []byte(string(r))
	})
}

// escapes matches what the library writes of a backslash, and of emoji, which people shall read.
var escapes = lazy.Pattern(`\\\\|\\U[0-9A-F]{8}`)

// yamlNode returns a value as a node of YAML.
func yamlNode(v gjson.Result) *yaml.Node {
	switch {
	case v.IsObject():
		n := &yaml.Node{Kind: yaml.MappingNode}
		v.ForEach(func(key, value gjson.Result) bool {
			n.Content = append(n.Content, yamlText(key.String()), yamlNode(value))
			return true
		})
		return n
	case v.IsArray():
		return &yaml.Node{Kind: yaml.SequenceNode, Content: gather.List(v.Array(), yamlNode)}
	case v.Type == gjson.String:
		return yamlText(v.String())
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: strings.TrimSpace(v.Raw)}
}

// yamlText returns a string, in double quotes unless it is certain that nobody reads it as
// something else.
func yamlText(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if !plainScalar().MatchString(s) || len(s) >= 200 || slices.Contains(yamlWords[:], strings.ToLower(s)) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// Document returns a document as JSON. A YAML document, as crunch writes them, is converted in the
// same way as on import; JSON is returned as it is, without a byte order mark. file is the name of
// the file, or "".
//
// The name decides if it ends in .yaml or .yml. Otherwise text counts as YAML only if it cannot be
// JSON and is a mapping, so that a mistake in a JSON document gets an error message about JSON.
func Document(text []byte, file string) ([]byte, error) {
	text = unmarked(text)
	named := slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(path.Ext(file)))
	if start := bytes.TrimSpace(text); !named && (len(start) == 0 || bytes.ContainsAny(start[:1], `{["`)) {
		return text, nil
	}
	read, err := yamlToJSON(text)
	if named || err == nil && !json.Valid(text) && bytes.HasPrefix(read, []byte("{")) {
		return read, err
	}
	return text, nil
}
