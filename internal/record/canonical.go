package record

import (
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// canonical writes the RFC 8785 form: the library writes each scalar, the order
// of the members is made here. Given a whole text the library builds a tree, which
// took 20 seconds and 2.8 GB for 50 MB of small numbers; this takes 1 and the size
// of the text.
type canonical struct {
	out    []byte
	number func(literal []byte) ([]byte, error)
	drop   string // a member of the outermost object to leave out
	stack  []frame
	spare  []byte // the members of an object while they change places
}

// frame is an open bracket: where it stands in the output and, for an object,
// where each member does.
type frame struct {
	object  bool
	start   int
	count   int
	members []span
}

type span struct {
	name       string
	start, end int
}

// canonicalize takes a text that passed check.
func (c *canonical) canonicalize(data []byte) ([]byte, error) {
	c.out = make([]byte, 0, len(data))
	if err := walk(data, c); err != nil {
		return nil, err
	}
	return c.out, nil
}

func (c *canonical) open(bracket byte) {
	c.separate()
	c.out = append(c.out, bracket)
	c.stack = append(c.stack, frame{object: bracket == '{', start: len(c.out)})
}

// separate comes before each value: the comma of an array's element.
func (c *canonical) separate() {
	if len(c.stack) == 0 {
		return
	}
	top := &c.stack[len(c.stack)-1]
	if !top.object && top.count > 0 {
		c.out = append(c.out, ',')
	}
	top.count++
}

func (c *canonical) key(raw []byte, _ int) error {
	top := &c.stack[len(c.stack)-1]
	c.endMember(top)
	text, err := canonicalText(raw)
	if err != nil {
		return err
	}
	top.members = append(top.members, span{name: unquote(raw), start: len(c.out)})
	c.out = append(append(c.out, text...), ':')
	return nil
}

func (c *canonical) scalar(raw []byte, _ int) error {
	c.separate()
	write := c.number
	switch raw[0] {
	case '"':
		write = canonicalText
	case 't', 'f', 'n':
		c.out = append(c.out, raw...)
		return nil
	}
	text, err := write(raw)
	c.out = append(c.out, text...)
	return err
}

func (c *canonical) close() {
	top := &c.stack[len(c.stack)-1]
	if !top.object {
		c.out = append(c.out, ']')
	} else {
		c.endMember(top)
		c.order(top)
		c.out = append(c.out, '}')
	}
	c.stack = c.stack[:len(c.stack)-1]
}

func (c *canonical) endMember(top *frame) {
	if n := len(top.members); n > 0 {
		top.members[n-1].end = len(c.out)
	}
}

// order puts the members of the object that ends here in their canonical order
// and the commas between them.
func (c *canonical) order(top *frame) {
	if c.drop != "" && len(c.stack) == 1 {
		top.members = slices.DeleteFunc(top.members, func(m span) bool { return m.name == c.drop })
	}
	slices.SortFunc(top.members, func(a, b span) int { return compareUTF16(a.name, b.name) })
	c.spare = append(c.spare[:0], c.out[top.start:]...)
	c.out = c.out[:top.start]
	for i, m := range top.members {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, c.spare[m.start-top.start:m.end-top.start]...)
	}
}

// canonicalText leaves a string without escapes as it is: valid JSON has nothing
// in it that RFC 8785 would write another way.
func canonicalText(raw []byte) ([]byte, error) {
	if slices.Contains(raw, '\\') {
		return jcs.Transform(raw)
	}
	return raw, nil
}

// compareUTF16 is RFC 8785's order of names. It differs from the order of bytes
// where one side has a surrogate pair and the other U+E000 to U+FFFF.
func compareUTF16(a, b string) int {
	for a != "" && b != "" {
		r, n := utf8.DecodeRuneInString(a)
		q, m := utf8.DecodeRuneInString(b)
		if r != q {
			return slices.Compare(utf16.AppendRune(nil, r), utf16.AppendRune(nil, q))
		}
		a, b = a[n:], b[m:]
	}
	return len(a) - len(b)
}
