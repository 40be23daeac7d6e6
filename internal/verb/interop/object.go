package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// object is a JSON object that keeps its members in the order in which they were first set. The
// other systems write their members in a fixed order, and a map would sort them.
type object struct {
	names  []string
	values map[string]json.RawMessage
}

// objectOf returns an object with the given members, each a name and a value for set.
func objectOf(members ...any) *object {
	o := &object{}
	for i := 0; i < len(members); i += 2 {
		o.set(fmt.Sprint(members[i]), members[i+1])
	}
	return o
}

// raw sets a member to a text that is valid JSON. A member that exists keeps its place.
func (o *object) raw(name string, value json.RawMessage) {
	if o.values == nil {
		o.values = map[string]json.RawMessage{}
	}
	if _, there := o.values[name]; !there {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

// set sets a member to any value that encode takes.
func (o *object) set(name string, value any) { o.raw(name, encode(value)) }

// json returns the object without white space.
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

// MarshalJSON lets an object be a value in another one.
func (o *object) MarshalJSON() ([]byte, error) { return o.json(), nil }

// encode returns a value as JSON without escaping <, > and &. A nil list of texts or of raw values
// becomes an empty list, because the other systems do not expect null there.
func encode(value any) json.RawMessage {
	switch list := value.(type) {
	case []string:
		value = append([]string{}, list...)
	case []json.RawMessage:
		value = append([]json.RawMessage{}, list...)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(b.Bytes())
}
