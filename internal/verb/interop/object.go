package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/verb/transfer"
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

// ids has the documents that were read, by id, to detect conflicting documents with one id.
type ids map[string]*source

// claim records the id of a document. It returns an error if the id belongs to another document with
// different content. A second document with the same content is accepted, however it is formatted;
// so is a document without an id.
func (s ids) claim(id string, src *source) error {
	if other := s[id]; other != nil && id != "" && !sameJSON(other.json, src.json) {
		return fmt.Errorf("%s has the same id %q, with other contents", other.path, id)
	} else if other == nil {
		s[id] = src
	}
	return nil
}

// unused returns an id that is not in used, with a number after the separator if necessary, and
// adds it there.
func unused(id, separator string, used map[string]bool) string {
	for n, plain := 2, id; used[id]; n++ {
		id = plain + separator + strconv.Itoa(n)
	}
	used[id] = true
	return id
}

// isPlainID reports whether an id is safe to keep and to show: it cannot be a path to another
// directory and has no control or replacement characters. Unlike safeName it allows spaces and
// other scripts.
func isPlainID(id string) bool {
	return len(id) <= 200 && !strings.ContainsAny(id, "/\\\x00") && !strings.Contains(id, "..") && !strings.HasPrefix(id, ".") &&
		strings.IndexFunc(id, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfffd }) < 0
}

// none is an empty list in a document.
var none = []json.RawMessage{}

// branchIn returns the name of the branch that a record was made on, without refs/heads/.
func branchIn(r *record.Record) string {
	return strings.TrimPrefix(string(r.Git.Branch), "refs/heads/")
}

// keyOf returns the name that go-team's manifest uses for a checkpoint: the key under which it was
// imported, or else its label. For a checkpoint that does not exist any more, label is used.
func keyOf(a *transfer.Archive, id name.ID, label string) string {
	for _, c := range a.Checkpoints {
		if c.Record.ID != id {
			continue
		}
		if c.Import != nil && c.Import.Format == GoTeam && !c.Import.Here && safeName(c.Import.Key) {
			return c.Import.Key
		}
		return c.Record.Label
	}
	for _, d := range a.Damaged {
		if d.ID == id && d.Key != "" && safeName(d.Key) {
			return d.Key
		} else if d.ID == id {
			return d.Label
		}
	}
	return path.Base(label)
}
