package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
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
}

// Insertion is a text that was inserted into a file, so that exactly this can be removed
// later.
type Insertion struct {
	// Byte offset at the time, without the byte order mark.
	At   int    `json:"at"`
	Text string `json:"text"`
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
	if list, is := at.Value.(*hujson.Array); is {
		for i := range list.Elements {
			if equal(list.Elements[i], entry) {
				return true
			}
		}
	}
	return equal(*at, entry)
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
	list, is := at.Value.(*hujson.Array)
	if !is {
		return fmt.Errorf("%s is not a list", strings.Join(path, "."))
	}
	var last *hujson.Value
	if n := len(list.Elements); n > 0 {
		last = &list.Elements[n-1]
	}
	return s.splice(at, last, func(indent string) string { return s.render(element, indent) })
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
	for depth < len(path)-1 {
		next := member(at, path[depth])
		if next == nil {
			break
		}
		at = next
		depth++
	}
	object, is := at.Value.(*hujson.Object)
	if !is {
		return fmt.Errorf("%s is not an object", strings.Join(path[:depth], "."))
	}
	for i := len(path) - 1; i > depth; i-- {
		value = map[string]any{path[i]: value}
	}
	var last *hujson.Value
	if n := len(object.Members); n > 0 {
		last = &object.Members[n-1].Value
	}
	return s.splice(at, last, func(indent string) string {
		return s.render(path[depth], "") + ": " + s.render(value, indent)
	})
}

// splice inserts a text after the last child of a container, or as its first child. The
// text is put on a line of its own, unless the container has all of its children on one
// line.
func (s *Settings) splice(container, last *hujson.Value, text func(indent string) string) error {
	unit, newline := s.style()
	if last == nil {
		open := container.StartOffset + 1
		inner := s.text[open : container.EndOffset-1]
		outer := s.indentAt(container.StartOffset)
		added := newline + outer + unit + text(outer+unit)
		if !bytes.ContainsAny(inner, "\n") {
			added += newline + outer
		}
		return s.put(open, added)
	}
	before := s.text[container.StartOffset+1 : firstOf(container).StartOffset]
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
		indent := string(before[i+1:])
		if strings.Trim(indent, " \t") != "" {
			indent = s.indentAt(container.StartOffset) + unit
		}
		return s.put(last.EndOffset, ","+newline+indent+text(indent))
	}
	// The children share a line, so the new one goes there in compact form.
	return s.put(last.EndOffset, ", "+compact(text("")))
}

// firstOf returns the first child of a container. For an object that is the name of a
// member.
func firstOf(container *hujson.Value) *hujson.Value {
	switch v := container.Value.(type) {
	case *hujson.Object:
		return &v.Members[0].Name
	case *hujson.Array:
		return &v.Elements[0]
	}
	return container
}

// put inserts a text and remembers the insertion.
func (s *Settings) put(at int, added string) error {
	s.text = bytes.Join([][]byte{s.text[:at], []byte(added), s.text[at:]}, nil)
	s.inserted = append(s.inserted, Insertion{at, added})
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

// Mentions reports whether the value at path contains the text as a whole string, at any
// depth.
func (s *Settings) Mentions(path []string, text string) bool {
	at := s.find(path)
	return at != nil && mentions(at, text)
}

func mentions(v *hujson.Value, text string) bool {
	switch inner := v.Value.(type) {
	case hujson.Literal:
		return inner.Kind() == '"' && inner.String() == text
	case *hujson.Object:
		for i := range inner.Members {
			if mentions(&inner.Members[i].Value, text) {
				return true
			}
		}
	case *hujson.Array:
		for i := range inner.Elements {
			if mentions(&inner.Elements[i], text) {
				return true
			}
		}
	}
	return false
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

// render returns a value as indented JSON in the style of the file.
func (s *Settings) render(value any, indent string) string {
	unit, newline := s.style()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(indent, unit)
	if err := encoder.Encode(value); err != nil {
		return "null" // definitions hold nothing that JSON cannot say
	}
	return strings.ReplaceAll(strings.TrimSpace(b.String()), "\n", newline)
}

// compact returns JSON on one line. The text may be a member, that is, a name and a value.
func compact(text string) string {
	key, value, is := strings.Cut(text, ": ")
	var b bytes.Buffer
	if is && json.Compact(&b, []byte(value)) == nil {
		return key + ": " + b.String()
	}
	b.Reset()
	if json.Compact(&b, []byte(text)) == nil {
		return b.String()
	}
	return text
}

// Remove removes the elements of the list at path that equal entry, or the member at path
// if it does, and then the containers above that became empty. It reports whether it found
// any.
func (s *Settings) Remove(path []string, entry any) (bool, error) {
	found := false
	for {
		at := s.find(path)
		if at == nil {
			return found, nil
		}
		if list, is := at.Value.(*hujson.Array); is && !equal(*at, entry) {
			i := 0
			for i < len(list.Elements) && !equal(list.Elements[i], entry) {
				i++
			}
			if i == len(list.Elements) {
				return found, nil
			}
			found = true
			if len(list.Elements) > 1 {
				if err := s.cut(spans(at), i); err != nil {
					return found, err
				}
				continue
			}
		} else if !equal(*at, entry) {
			return found, nil
		}
		return true, s.prune(path)
	}
}

// prune removes the member at path, and each object above that would become empty.
func (s *Settings) prune(path []string) error {
	for depth := len(path) - 1; depth >= 0; depth-- {
		at := s.find(path[:depth])
		object := at.Value.(*hujson.Object)
		i := 0
		for object.Members[i].Name.Value.(hujson.Literal).String() != path[depth] {
			i++
		}
		if len(object.Members) > 1 || depth == 0 {
			return s.cut(spans(at), i)
		}
	}
	return nil
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

// cut removes child i, whose span is at[i], with the comma and the space before it. The
// first child is removed with what follows, up to the next one.
func (s *Settings) cut(at [][2]int, i int) error {
	from, to := at[i][1], at[i+1][1]
	if i == 0 && len(at) > 3 {
		from, to = at[1][0], at[2][0]
	} else if i == 0 {
		// The only child: everything between the braces.
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
	at := &s.root
	for _, name := range path {
		if at = member(at, name); at == nil {
			return nil
		}
	}
	return at
}

func member(of *hujson.Value, name string) *hujson.Value {
	object, is := of.Value.(*hujson.Object)
	if !is {
		return nil
	}
	for i := range object.Members {
		if object.Members[i].Name.Value.(hujson.Literal).String() == name {
			return &object.Members[i].Value
		}
	}
	return nil
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
