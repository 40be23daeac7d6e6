package interop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a YAML document. The parser is recursive and copies what follows at each level, so a
// small document can cost much memory. Therefore first the text is checked (checkYAML), then its
// tokens (checkTokens), and only then is it parsed. Within these limits any document is read or
// refused in 64 MiB.
const (
	maxYAML      = 1 << 20
	maxMarks     = 60_000 // characters that may begin or end a token; a token takes some 300 bytes
	maxYAMLDepth = 95
	maxColons    = 100  // on one line, or between two commas in brackets
	maxNotes     = 2000 // anchors, tags and question marks
	maxIndent    = 1000
	maxCopies    = 200_000_000 // for each member of a block the parser recurses and copies the members after it
	maxNodes     = 2_000_000   // values after aliases are expanded
)

// yamlToJSON converts one YAML document to JSON. Members keep their order and numbers their digits.
// It refuses what other readers interpret differently (duplicate members, merge keys, several
// documents) and what would not end (aliases to themselves).
//
// The conversion works on the syntax tree instead of decoding into Go values, because those would
// lose the order of members and the digits of numbers.
func yamlToJSON(data []byte) (_ json.RawMessage, err error) {
	if err := checkYAML(data); err != nil {
		return nil, err
	}
	// The parser panics on some malformed input.
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("not YAML: %v", caught)
		}
	}()
	tokens := lexer.Tokenize(string(unmarked(data)))
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, fmt.Errorf("not YAML: %s", firstLine(err.Error()))
	}
	var body ast.Node
	for _, d := range file.Docs {
		if d.Body == nil || d.Body.Type() == ast.DirectiveType {
			continue // the parser gives a directive as a document of its own
		}
		if body != nil {
			return nil, yamlFault(d.Body, "more than one document")
		}
		body = d.Body
	}
	if body == nil {
		return nil, errors.New("it is empty")
	}
	c := &yamlReader{anchors: map[string]ast.Node{}, open: map[string]bool{}}
	if err := c.value(body, 0); err != nil {
		return nil, err
	}
	return json.RawMessage(c.out.Bytes()), nil
}

// checkYAML checks the text line by line: encoding, control characters, indentation, and two
// estimates of what the parser will need. marks is an upper bound for the number of tokens. copies
// estimates how many members the parser copies in total: each member of a block counts those before
// it.
func checkYAML(data []byte) error {
	if len(data) > maxYAML {
		return fmt.Errorf("%d bytes of YAML; the limit is %d", len(data), maxYAML)
	}
	marks, copies, members := 0, 0, [maxIndent + 1]int{} // members of the open blocks, by column
	lines, number := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)), 0
	for text := range strings.Lines(lines) {
		line := []byte(strings.TrimSuffix(text, "\n"))
		number++
		switch {
		case !utf8.Valid(line):
			return fmt.Errorf("line %d: not UTF-8", number)
		case bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return fmt.Errorf("line %d: a control character", number)
		}
		indent := len(line) - len(bytes.TrimLeft(line, " "))
		column := len(line) - len(bytes.TrimLeft(line, " -?\t"))
		if column > maxIndent {
			return fmt.Errorf("line %d: nested too deep", number)
		}
		if marks += countMarks(line); marks > maxMarks {
			return fmt.Errorf("line %d: more than %d brackets, commas, colons, dashes and similar characters", number, maxMarks)
		}
		if column == len(line) {
			continue
		}
		// A line ends all blocks that are indented deeper.
		clear(members[indent+1:])
		if bytes.ContainsAny(line, ":?") {
			members[column]++
		}
		if copies += members[column]; copies > maxCopies {
			return fmt.Errorf("line %d: too many members at one level", number)
		}
	}
	return nil
}

// countMarks counts the characters in a line that may be tokens, plus one for the line itself.
func countMarks(line []byte) int {
	marks := 1
	for i, b := range line {
		switch b {
		case '[', ']', '{', '}', ',', '&', '*', '!', '#', '\'', '"':
			marks++
		case ':', '-', '?': // only before a blank or, in brackets, before a delimiter
			if i+1 == len(line) || bytes.IndexByte([]byte(" \t,[]{}:"), line[i+1]) >= 0 {
				marks++
			}
		}
	}
	return marks
}

// checkTokens limits the nesting of brackets, the number of colons in a row, each of which nests as
// well, and of anchors, tags and question marks. Unlike the text, the tokens tell brackets from
// those in strings and comments.
func checkTokens(tokens token.Tokens) error {
	depth, notes, line, colons := 0, 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line && depth == 0 {
			colons = 0
		}
		line = t.Position.Line
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
			colons = 0
		case token.SequenceEndType, token.MappingEndType:
			depth = max(0, depth-1)
			colons = 0
		case token.CollectEntryType:
			colons = 0
		case token.AnchorType, token.TagType, token.MappingKeyType:
			notes++
		case token.MappingValueType:
			colons++
		}
		switch {
		case depth > maxYAMLDepth+1: // the outermost is at depth 0
			return fmt.Errorf("line %d: nested more than %d deep", line, maxYAMLDepth)
		// In "a: b: c: d" every colon is one more level for the parser, even where it is an error.
		case colons > maxColons:
			return fmt.Errorf("line %d: more than %d colons without a comma between them", line, maxColons)
		case notes > maxNotes:
			return fmt.Errorf("line %d: more than %d anchors, tags and question marks", line, maxNotes)
		}
	}
	return nil
}

// firstLine returns the first line of the parser's message; the others show the source.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// yamlReader converts a syntax tree to JSON.
type yamlReader struct {
	// out receives the JSON.
	out bytes.Buffer
	// anchors are the nodes that aliases can refer to, so far. As in YAML, a later anchor of the
	// same name replaces an earlier one.
	anchors map[string]ast.Node
	// open has the anchors that are being written. An alias to one of them would never end.
	open map[string]bool
	// nodes counts the values written, with aliases expanded.
	nodes int
}

// yamlFault returns an error with the line of a node.
func yamlFault(n ast.Node, format string, args ...any) error {
	where := ""
	if t := n.GetToken(); t != nil && t.Position != nil {
		where = fmt.Sprintf("line %d: ", t.Position.Line)
	}
	return errors.New(where + fmt.Sprintf(format, args...))
}

// value writes any node. Aliases are expanded, so the number of values is checked here: a few lines
// of nested aliases can stand for billions of values.
func (c *yamlReader) value(n ast.Node, depth int) error {
	if c.nodes++; c.nodes > maxNodes || c.out.Len() > maxDocument {
		return yamlFault(n, "its aliases expand to more than %d values", maxNodes)
	}
	if depth > maxYAMLDepth {
		return yamlFault(n, "nested more than %d deep", maxYAMLDepth)
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return c.mapping(n.Values, depth)
	case *ast.MappingValueNode:
		return c.mapping([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		return c.sequence(n, depth)
	case *ast.AnchorNode:
		name := n.Name.GetToken().Value
		c.anchors[name] = n.Value
		c.open[name] = true
		err := c.value(n.Value, depth)
		delete(c.open, name)
		return err
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		target, ok := c.anchors[name]
		if !ok || c.open[name] {
			return yamlFault(n, "the alias %q names nothing that is complete", name)
		}
		return c.value(target, depth)
	case *ast.TagNode:
		return c.tagged(n, depth)
	case nil:
		c.out.WriteString("null")
		return nil
	}
	return c.scalar(n)
}

// mapping writes an object. Merge keys are refused, because readers disagree on them.
func (c *yamlReader) mapping(values []*ast.MappingValueNode, depth int) error {
	seen := make(map[string]bool, len(values))
	c.out.WriteByte('{')
	for i, v := range values {
		if v.Key.IsMergeKey() {
			return yamlFault(v, "a merge key")
		}
		key, err := c.key(v.Key)
		if err != nil {
			return err
		}
		if seen[key] {
			return yamlFault(v, "a second member called %q", key)
		}
		seen[key] = true
		if i > 0 {
			c.out.WriteByte(',')
		}
		c.text(key)
		c.out.WriteByte(':')
		if err := c.value(v.Value, depth+1); err != nil {
			return err
		}
	}
	c.out.WriteByte('}')
	return nil
}

// key returns the name of a member: a string, or a number, boolean or null as it is spelled. JSON
// has no other keys.
func (c *yamlReader) key(k ast.MapKeyNode) (string, error) {
	if asked, ok := k.(*ast.MappingKeyNode); ok { // written as "? key"
		if inner, ok := asked.Value.(ast.MapKeyNode); ok {
			k = inner
		}
	}
	switch k := k.(type) {
	case *ast.StringNode:
		return k.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return k.GetToken().Value, nil
	}
	return "", yamlFault(k, "a member whose name is not text")
}

// sequence writes a list.
func (c *yamlReader) sequence(n *ast.SequenceNode, depth int) error {
	c.out.WriteByte('[')
	for i, v := range n.Values {
		if i > 0 {
			c.out.WriteByte(',')
		}
		if err := c.value(v, depth+1); err != nil {
			return err
		}
	}
	c.out.WriteByte(']')
	return nil
}

// tagged writes a node with one of YAML's standard tags. Only !!str changes anything: it makes a
// string of what looks like a number. Other tags name types of a programming language, which a
// careless reader would instantiate, and are refused.
func (c *yamlReader) tagged(n *ast.TagNode, depth int) error {
	switch tag := n.GetToken().Value; tag {
	case "!!str":
		switch v := n.Value.(type) {
		case nil:
			c.text("")
		case *ast.StringNode:
			c.text(v.Value)
		case *ast.LiteralNode:
			c.text(v.Value.Value)
		default:
			c.text(v.GetToken().Value)
		}
		return nil
	case "!!map", "!!seq", "!!int", "!!float", "!!bool", "!!null", "!!timestamp":
		return c.value(n.Value, depth)
	default:
		return yamlFault(n, "the tag %q names a type", tag)
	}
}

// scalar writes a single value. JSON has neither infinity nor NaN, so these become strings.
func (c *yamlReader) scalar(n ast.Node) error {
	switch n := n.(type) {
	case *ast.StringNode:
		// The parser treats a number with too many digits as a string. Other readers do not.
		if t := n.GetToken(); t.Type == token.StringType && longNumber().MatchString(t.Value) {
			c.out.WriteString(strings.TrimPrefix(t.Value, "+"))
			return nil
		}
		c.text(n.Value)
	case *ast.LiteralNode:
		c.text(n.Value.Value)
	case *ast.NullNode:
		c.out.WriteString("null")
	case *ast.BoolNode:
		c.out.WriteString(strconv.FormatBool(n.Value))
	case *ast.IntegerNode, *ast.FloatNode:
		c.number(n.GetToken().Value)
	case *ast.InfinityNode, *ast.NanNode:
		c.text(n.GetToken().Value)
	default:
		return yamlFault(n, "a value of a kind that JSON does not have")
	}
	return nil
}

// longNumber matches what every YAML reader takes for a decimal number, however long it is.
var longNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$`)
})

// text writes a string.
func (c *yamlReader) text(s string) { c.out.Write(encode(s)) }

// number writes a number: with its own digits if they are valid JSON, else without the "+" and "_"
// that only YAML allows, else converted from another base exactly. What cannot be converted is
// written as a string.
func (c *yamlReader) number(s string) {
	plain := strings.ReplaceAll(strings.TrimPrefix(s, "+"), "_", "")
	if json.Valid([]byte(plain)) {
		c.out.WriteString(plain)
		return
	}
	if n, ok := new(big.Int).SetString(plain, 0); ok {
		c.out.WriteString(n.String())
		return
	}
	if f, _, err := big.ParseFloat(plain, 10, 200, big.ToNearestEven); err == nil && !f.IsInf() && len(plain) < 100 {
		c.out.WriteString(f.Text('g', 40))
		return
	}
	c.text(s)
}
