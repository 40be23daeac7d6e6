package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Settings edits a JSON file with comments and trailing commas, where the agent allows
// these. Edits insert and cut text: all other bytes stay as they are, including a byte
// order mark and line ends. Each edit parses the text again, so that offsets are always
// those of the current text.
type Settings struct {
	bom  string
	text []byte
	root hujson.Value

	inserted []Insertion
	renewed  []renewal
}

// renewal is a string in a file that was replaced by another one, both as JSON.
type renewal struct{ from, to string }

// Insertion is a text that was inserted into a file, so that exactly this can be removed
// later.
type Insertion struct {
	// Byte offset at the time, without the byte order mark.
	At   int    `json:"at"`
	Text string `json:"text"`
	// The agent whose entry it is; empty: several agents may share it, or an earlier version wrote it.
	Agent string `json:"agent,omitempty"`
}

const byteOrderMark = "\ufeff"

// ParseSettings parses a file. Empty content is valid; the first edit then creates an
// object.
func ParseSettings(data []byte) (*Settings, error) {
	s := &Settings{text: data}
	if rest, has := bytes.CutPrefix(data, []byte(byteOrderMark)); has {
		s.bom, s.text = byteOrderMark, rest
	}
	return s, s.parse()
}

// blank reports whether the file has no content.
func (s *Settings) blank() bool { return len(bytes.TrimSpace(s.text)) == 0 }

// parse parses the text, which has to be an object.
func (s *Settings) parse() error {
	if s.blank() {
		return nil
	}
	root, err := hujson.Parse(s.text)
	if err != nil {
		return err
	}
	if _, is := root.Value.(*hujson.Object); !is {
		return errors.New("it is not a JSON object")
	}
	s.root = root
	return nil
}

// Text returns the content to write.
func (s *Settings) Text() []byte { return append([]byte(s.bom), s.text...) }

// Has reports whether the list at path has an element that equals entry, or the member at
// path has a value that equals it.
func (s *Settings) Has(path []string, entry any) bool {
	at := s.find(path)
	if at == nil {
		return false
	}
	list, is := at.Value.(*hujson.Array)
	return equal(*at, entry) || is && indexOf(list, entry) >= 0
}

// indexOf returns the index of the first element that equals entry, or -1.
func indexOf(list *hujson.Array, entry any) int {
	return slices.IndexFunc(list.Elements, func(e hujson.Value) bool { return equal(e, entry) })
}

// Set adds the member at path, and the objects that lead to it. It fails if the member
// exists.
func (s *Settings) Set(path []string, value any) error {
	if s.find(path) != nil {
		return fmt.Errorf("%s is already set to something else", strings.Join(path, "."))
	}
	return s.insert(path, value)
}

// Append adds an element to the list at path, and creates the list if necessary.
func (s *Settings) Append(path []string, element any) error {
	at := s.find(path)
	if at == nil {
		return s.insert(path, []any{element})
	}
	if _, is := at.Value.(*hujson.Array); !is {
		return fmt.Errorf("%s is not a list", strings.Join(path, "."))
	}
	return s.splice(at, func(indent, unit string) string { return s.render(element, indent, unit) })
}

// insert adds a member with a value. It goes into the deepest object on the path that
// exists; the missing objects become part of the value.
func (s *Settings) insert(path []string, value any) error {
	if s.blank() {
		if err := s.put(0, "{}\n"); err != nil {
			return err
		}
	}
	depth, at := 0, &s.root
	for depth < len(path)-1 && s.find(path[:depth+1]) != nil {
		depth++
		at = s.find(path[:depth])
	}
	if _, is := at.Value.(*hujson.Object); !is {
		return fmt.Errorf("%s is not an object", strings.Join(path[:depth], "."))
	}
	for i := len(path) - 1; i > depth; i-- {
		value = map[string]any{path[i]: value}
	}
	return s.splice(at, func(indent, unit string) string {
		return s.render(path[depth], "", "") + ": " + s.render(value, indent, unit)
	})
}

// splice inserts a text after the last child of a container, or as its first child. The
// text is put on a line of its own, unless the container has all of its children on one
// line.
func (s *Settings) splice(container *hujson.Value, text func(indent, unit string) string) error {
	unit, newline := s.style()
	outer := s.indentAt(container.StartOffset)
	children := spans(container)
	open, first, last := children[0][1], children[1][0], children[len(children)-2][1]
	if len(children) == 2 { // only the borders
		added := newline + outer + unit + text(outer+unit, unit)
		if !bytes.ContainsAny(s.text[open:first], "\n") {
			added += newline + outer
		}
		return s.put(open, added)
	}
	before := s.text[open:first]
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
		indent := string(before[i+1:])
		if strings.Trim(indent, " \t") != "" {
			indent = outer + unit
		}
		return s.put(last, ","+newline+indent+text(indent, unit))
	}
	// The children share a line, so the new one goes there in compact form.
	return s.put(last, ", "+text("", ""))
}

// put inserts a text and remembers the insertion.
func (s *Settings) put(at int, added string) error {
	s.text = bytes.Join([][]byte{s.text[:at], []byte(added), s.text[at:]}, nil)
	s.inserted = append(s.inserted, Insertion{At: at, Text: added})
	return s.parse()
}

// takeBack removes the insertions again, in reverse order, wherever they are by now. It
// returns false and changes nothing if one is missing or the rest would not be valid JSON.
func (s *Settings) takeBack(inserted []Insertion) bool {
	was := *s
	for i := len(inserted) - 1; i >= 0; i-- {
		in := inserted[i]
		at := nearest(s.text, []byte(in.Text), in.At)
		if in.Text == "" || at < 0 {
			*s = was
			return false
		}
		s.text = append(s.text[:at:at], s.text[at+len(in.Text):]...)
	}
	if s.parse() != nil {
		*s = was
		return false
	}
	return true
}

// nearest returns the offset of the occurrence of text that is closest to offset, or -1.
func nearest(in, text []byte, offset int) int {
	best := -1
	for from := 0; from <= len(in)-len(text); {
		i := bytes.Index(in[from:], text)
		if i < 0 {
			break
		}
		at := from + i
		if best < 0 || max(at-offset, offset-at) < max(best-offset, offset-best) {
			best = at
		}
		from = at + 1
	}
	return best
}

// renew replaces a string below path, in each place where it fits, and changes nothing else. It reports
// whether there is one afterwards.
func (s *Settings) renew(path []string, fits func(string) bool, with string) (there, changed bool, err error) {
	for at := s.find(path); at != nil; at = s.find(path) {
		var old *hujson.Value
		for v := range at.All() {
			literal, is := v.Value.(hujson.Literal)
			if is = is && literal.Kind() == '"'; is && literal.String() == with {
				there = true
			} else if is && fits(literal.String()) {
				old = v
				break
			}
		}
		if old == nil {
			break
		}
		r := renewal{string(s.text[old.StartOffset:old.EndOffset]), s.render(with, "", "")}
		s.text = slices.Concat(s.text[:old.StartOffset], []byte(r.to), s.text[old.EndOffset:])
		s.renewed, changed = append(s.renewed, r), true
		if err := s.parse(); err != nil {
			return there, changed, err
		}
	}
	return there, changed, nil
}

// renewedIn returns insertions as they are in the file after strings in it were replaced.
func renewedIn(inserted []Insertion, renewed []renewal) []Insertion {
	inserted = slices.Clone(inserted)
	for i := range inserted {
		for _, r := range renewed {
			inserted[i].Text = strings.ReplaceAll(inserted[i].Text, r.from, r.to)
		}
	}
	return inserted
}

// style returns the unit of indentation and the line end that the file uses.
func (s *Settings) style() (unit, newline string) {
	unit, newline = "  ", "\n"
	if bytes.Contains(s.text, []byte("\r\n")) {
		newline = "\r\n"
	}
	if i := bytes.IndexByte(s.text, '\n'); i >= 0 {
		rest := s.text[i+1:]
		if n := len(rest) - len(bytes.TrimLeft(rest, " \t")); n > 0 && n < 9 {
			unit = string(rest[:n])
		}
	}
	return unit, newline
}

// indentAt returns the indentation of the line with the offset.
func (s *Settings) indentAt(offset int) string {
	line := s.text[bytes.LastIndexByte(s.text[:offset], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// render returns a value as JSON with the line ends of the file, indented by units; on one line if
// there is neither indent nor unit.
func (s *Settings) render(value any, indent, unit string) string {
	_, newline := s.style()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(indent, unit)
	if err := encoder.Encode(value); err != nil {
		return "null" // definitions hold nothing that JSON cannot say
	}
	return strings.ReplaceAll(strings.TrimSpace(b.String()), "\n", newline)
}

// Remove removes the elements of the list at path that equal entry, or the member at path
// if it does, and then the containers above that became empty. It reports whether it found
// any.
func (s *Settings) Remove(path []string, entry any) (found bool, err error) {
	for {
		at := s.find(path)
		if at == nil {
			return found, nil
		}
		if equal(*at, entry) {
			return true, s.prune(path)
		}
		list, is := at.Value.(*hujson.Array)
		if !is {
			return found, nil
		}
		i := indexOf(list, entry)
		switch {
		case i < 0:
			return found, nil
		case len(list.Elements) == 1:
			return true, s.prune(path)
		}
		found = true
		if err := s.cut(at, &list.Elements[i]); err != nil {
			return found, err
		}
	}
}

// prune removes the member at path, and each object above that would become empty.
func (s *Settings) prune(path []string) error {
	above := path[:len(path)-1]
	object := s.find(above)
	if len(above) > 0 && len(object.Value.(*hujson.Object).Members) == 1 {
		return s.prune(above)
	}
	return s.cut(object, s.find(path))
}

// spans returns the start and end offsets of a container's children, between two empty
// spans at the inner borders of the container.
func spans(container *hujson.Value) [][2]int {
	all := [][2]int{{container.StartOffset + 1, container.StartOffset + 1}}
	switch v := container.Value.(type) {
	case *hujson.Object:
		for i := range v.Members {
			all = append(all, [2]int{v.Members[i].Name.StartOffset, v.Members[i].Value.EndOffset})
		}
	case *hujson.Array:
		for i := range v.Elements {
			all = append(all, [2]int{v.Elements[i].StartOffset, v.Elements[i].EndOffset})
		}
	}
	return append(all, [2]int{container.EndOffset - 1, container.EndOffset - 1})
}

// cut removes a child of a container, with the comma and the space before it. The first child is
// removed with what follows, up to the next one.
func (s *Settings) cut(container, child *hujson.Value) error {
	at := spans(container)
	i := slices.IndexFunc(at, func(span [2]int) bool { return span[1] == child.EndOffset })
	from, to := at[i-1][1], at[i][1]
	switch {
	case i == 1 && len(at) > 3:
		from, to = at[1][0], at[2][0]
	case i == 1: // the only child: everything between the braces
		to = at[2][0]
	}
	s.text = append(s.text[:from:from], s.text[to:]...)
	return s.parse()
}

// find returns the value at path, or nil. An empty path is the whole file.
func (s *Settings) find(path []string) *hujson.Value {
	if s.blank() {
		return nil
	}
	return s.root.Find(strings.Join(slices.Concat([]string{""}, path), "/"))
}

// equal compares a JSON value with a Go value by content. Comments and formatting do not
// matter.
func equal(v hujson.Value, with any) bool {
	v = v.Clone()
	v.Standardize()
	var a, b any
	want, err := json.Marshal(with)
	return err == nil && json.Unmarshal(v.Pack(), &a) == nil && json.Unmarshal(want, &b) == nil && reflect.DeepEqual(a, b)
}
