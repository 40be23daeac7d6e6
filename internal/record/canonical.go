package record

import (
	"cmp"
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
	spans  []span           // the members of all open objects, the innermost last
	ways   map[int][]uint16 // by how many members: how the last such object was put in order
	sorted []span
	spare  []byte // the members of an object while they change places
}

// frame is an open bracket: where it stands in the output and, for an object, which
// members are its own.
type frame struct {
	object bool
	start  int
	count  int
	first  int // of its members among spans
}

// span is where a member stands in the output; name is its own text.
type span struct {
	name       []byte
	start, end int
}

// canonicalize takes a text that passed check. What it gives is good until the next one.
func (c *canonical) canonicalize(data []byte) ([]byte, error) {
	c.out, c.stack, c.spans = slices.Grow(c.out[:0], len(data)), c.stack[:0], c.spans[:0]
	if err := walk(data, c); err != nil {
		return nil, err
	}
	return c.out, nil
}

func (c *canonical) open(bracket byte) {
	c.separate()
	c.out = append(c.out, bracket)
	c.stack = append(c.stack, frame{object: bracket == '{', start: len(c.out), first: len(c.spans)})
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
	c.endMember(c.stack[len(c.stack)-1])
	text, name := raw, raw[1:len(raw)-1]
	if !isVerbatim(raw) {
		var err error
		if text, err = canonicalText(raw); err != nil {
			return err
		}
		name = []byte(unquote(raw))
	}
	c.spans = append(c.spans, span{name: name, start: len(c.out)})
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
	top := c.stack[len(c.stack)-1]
	if !top.object {
		c.out = append(c.out, ']')
	} else {
		c.endMember(top)
		c.order(top)
		c.out = append(c.out, '}')
		c.spans = c.spans[:top.first]
	}
	c.stack = c.stack[:len(c.stack)-1]
}

func (c *canonical) endMember(top frame) {
	if n := len(c.spans); n > top.first {
		c.spans[n-1].end = len(c.out)
	}
}

// order puts the members of the object that ends here in their canonical order
// and the commas between them.
func (c *canonical) order(top frame) {
	members := c.spans[top.first:]
	if c.drop != "" && len(c.stack) == 1 {
		members = slices.DeleteFunc(members, func(m span) bool { return string(m.name) == c.drop })
	}
	members = c.sort(members)
	c.spare = append(c.spare[:0], c.out[top.start:]...)
	c.out = c.out[:top.start]
	for i, m := range members {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, c.spare[m.start-top.start:m.end-top.start]...)
	}
}

// sort puts members in order. Records have the same members one after the other, so what
// put the last ones in order is tried first.
func (c *canonical) sort(members []span) []span {
	const many = 1000
	if len(members) < 2 || len(members) > many {
		slices.SortFunc(members, compareSpans)
		return members
	}
	c.sorted = c.sorted[:0]
	for _, i := range c.ways[len(members)] {
		c.sorted = append(c.sorted, members[i])
	}
	if len(c.sorted) == len(members) && slices.IsSortedFunc(c.sorted, compareSpans) {
		return c.sorted
	}
	way := make([]uint16, len(members))
	for i := range way {
		way[i] = uint16(i)
	}
	slices.SortFunc(way, func(a, b uint16) int { return compareSpans(members[a], members[b]) })
	if c.ways == nil {
		c.ways = map[int][]uint16{}
	}
	c.ways[len(members)] = way
	c.sorted = c.sorted[:0]
	for _, i := range way {
		c.sorted = append(c.sorted, members[i])
	}
	return c.sorted
}

func compareSpans(a, b span) int { return compareUTF16(a.name, b.name) }

// canonicalText leaves a string without escapes as it is: valid JSON has nothing
// in it that RFC 8785 would write another way.
func canonicalText(raw []byte) ([]byte, error) {
	if isVerbatim(raw) {
		return raw, nil
	}
	return jcs.Transform(raw)
}

// compareUTF16 is RFC 8785's order of names. It differs from the order of bytes
// where one side has a surrogate pair and the other U+E000 to U+FFFF.
func compareUTF16(a, b []byte) int {
	const private = 0xee // the first byte of U+E000
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		if a[i] < private && b[i] < private {
			return cmp.Compare(a[i], b[i])
		}
		r, _ := utf8.DecodeRune(a[i:])
		q, _ := utf8.DecodeRune(b[i:])
		return slices.Compare(utf16.AppendRune(nil, r), utf16.AppendRune(nil, q))
	}
	return len(a) - len(b)
}
