package interop

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/tidwall/gjson"
)

// object is a JSON object whose members stay in the order in which they were set.
type object struct {
	names  []string
	values map[string]json.RawMessage
}

func (o *object) raw(name string, value json.RawMessage) {
	if o.values == nil {
		o.values = map[string]json.RawMessage{}
	}
	if _, there := o.values[name]; !there {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

// set takes a text, a number, a list of texts or another object.
func (o *object) set(name string, value any) {
	switch v := value.(type) {
	case *object:
		o.raw(name, v.json())
	case []json.RawMessage:
		o.raw(name, list(v))
	default:
		o.raw(name, encode(v))
	}
}

func (o *object) json() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(name))
		b.WriteByte(':')
		b.Write(o.values[name])
	}
	b.WriteByte('}')
	return b.Bytes()
}

// list is a JSON array.
func list(values []json.RawMessage) json.RawMessage {
	return json.RawMessage("[" + string(bytes.Join(rawBytes(values), []byte(","))) + "]")
}

func rawBytes(values []json.RawMessage) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

// encode writes a value without HTML's escapes; a nil list is an empty one.
func encode(value any) json.RawMessage {
	if texts, ok := value.([]string); ok && texts == nil {
		return json.RawMessage("[]")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(b.Bytes())
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// compacted is JSON without blanks.
func compacted(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// textOf is the text of a JSON string, or a number as it stands.
func textOf(raw json.RawMessage) string { return gjson.ParseBytes(raw).String() }
