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

// Settings is a file of settings in JSON, with comments and trailing commas where the agent allows
// them. Edits insert and cut text: every byte that is not ours stays, a byte order mark and line
// endings too.
type Settings struct {
	bom  string
	text []byte
	root hujson.Value

	inserted []Insertion
}

// Insertion is a text that was put into a file, so that exactly it can be taken out again.
type Insertion struct {
	At   int    `json:"at"` // offset in bytes, a byte order mark not counted, when it was put in
	Text string `json:"text"`
}

const byteOrderMark = "\ufeff"

// ParseSettings reads a file. Nothing at all is an empty file, for which Text gives a new one.
func ParseSettings(data []byte) (*Settings, error) {
	s := &Settings{text: data}
	if rest, has := bytes.CutPrefix(data, []byte(byteOrderMark)); has {
		s.bom, s.text = byteOrderMark, rest
	}
	return s, s.parse()
}

// blank reports whether there is nothing in the file yet.
func (s *Settings) blank() bool { return len(bytes.TrimSpace(s.text)) == 0 }

func (s *Settings) parse() error {
	if s.blank() {
		return nil
	}
	root, err := hujson.Parse(s.text)
	if err != nil {
		return err
	}
	if _, is := root.Value.(*hujson.Object); !is {
		return errors.New("it is no JSON object")
	}
	s.root = root
	return nil
}

// Text is the file as it is to be written.
func (s *Settings) Text() []byte { return append([]byte(s.bom), s.text...) }

// Has reports whether the array at a path has an element, or the member at it has a value, that equals entry.
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

// Set makes the member at a path, and what leads to it. A member that is there already is an error.
func (s *Settings) Set(path []string, value any) error {
	if s.find(path) != nil {
		return fmt.Errorf("%s is set already, to something else", strings.Join(path, "."))
	}
	return s.insert(path, value)
}

// Append adds an element to the array at a path, which is made where there is none.
func (s *Settings) Append(path []string, element any) error {
	at := s.find(path)
	if at == nil {
		return s.insert(path, []any{element})
	}
	list, is := at.Value.(*hujson.Array)
	if !is {
		return fmt.Errorf("%s is no list", strings.Join(path, "."))
	}
	var last *hujson.Value
	if n := len(list.Elements); n > 0 {
		last = &list.Elements[n-1]
	}
	depth := len(path)
	return s.splice(at, last, depth, func(indent string) string { return s.render(element, indent) })
}

// insert adds a member with a value below the deepest object on its path that is there.
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
		return fmt.Errorf("%s is no object", strings.Join(path[:depth], "."))
	}
	for i := len(path) - 1; i > depth; i-- {
		value = map[string]any{path[i]: value}
	}
	var last *hujson.Value
	if n := len(object.Members); n > 0 {
		last = &object.Members[n-1].Value
	}
	return s.splice(at, last, depth, func(indent string) string {
		return s.render(path[depth], "") + ": " + s.render(value, indent)
	})
}

// splice puts text behind the last child of a container, or as its first.
func (s *Settings) splice(container, last *hujson.Value, depth int, text func(indent string) string) error {
	unit, newline := s.style()
	if last == nil {
		open := container.StartOffset + 1
		inner := s.text[open : container.EndOffset-1]
		outer := s.indentAt(container.StartOffset, depth)
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
			indent = s.indentAt(container.StartOffset, depth) + unit
		}
		return s.put(last.EndOffset, ","+newline+indent+text(indent))
	}
	return s.put(last.EndOffset, ", "+compact(text("")))
}

// firstOf is the first child of a container: its name where it is a member.
func firstOf(container *hujson.Value) *hujson.Value {
	switch v := container.Value.(type) {
	case *hujson.Object:
		return &v.Members[0].Name
	case *hujson.Array:
		return &v.Elements[0]
	}
	return container
}

func (s *Settings) put(at int, added string) error {
	s.text = bytes.Join([][]byte{s.text[:at], []byte(added), s.text[at:]}, nil)
	s.inserted = append(s.inserted, Insertion{at, added})
	return s.parse()
}

// takeBack takes out what was inserted, wherever it is by now. It reports whether all of it was
// there; the file is as it was otherwise.
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

// nearest finds a text, as close to an offset as it occurs.
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

// Mentions reports whether a text stands anywhere in the value at a path, as a string.
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

// style is how the file indents and ends its lines.
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

// indentAt is the indentation of the line that an offset is on, where nothing but white space leads it.
func (s *Settings) indentAt(offset, depth int) string {
	line := s.text[bytes.LastIndexByte(s.text[:offset], '\n')+1:]
	if n := len(line) - len(bytes.TrimLeft(line, " \t")); n > 0 || depth == 0 {
		return string(line[:n])
	}
	return ""
}

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

// Remove takes out the elements of the array at a path, or the member at it, that equal entry, and then
// the containers above that are empty. It reports whether it found any.
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

// prune removes a member, and each object above it that it leaves empty.
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

// spans are the places of a container's children.
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

// cut removes child i: with the comma and the space before it, or behind it where it is the first.
func (s *Settings) cut(at [][2]int, i int) error {
	from, to := at[i][1], at[i+1][1]
	if i == 0 && len(at) > 3 {
		from, to = at[1][0], at[2][0]
	} else if i == 0 {
		to = at[2][0] // the only child: what is between the braces
	}
	s.text = append(s.text[:from:from], s.text[to:]...)
	return s.parse()
}

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

// equal compares a value with one of Go's by content.
func equal(v hujson.Value, with any) bool {
	v = v.Clone()
	v.Standardize()
	var a, b any
	want, err := json.Marshal(with)
	return err == nil && json.Unmarshal(v.Pack(), &a) == nil && json.Unmarshal(want, &b) == nil && reflect.DeepEqual(a, b)
}
