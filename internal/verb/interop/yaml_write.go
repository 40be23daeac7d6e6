package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/lazy"
)

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
