package record

import "slices"

// form is canonicalize of a text, by its parts where it was taken apart.
func (c *canonical) form(a *apart, data []byte) ([]byte, error) {
	if a == nil || len(a.nodes) == 0 {
		return c.canonicalize(data)
	}
	c.out, c.spans = slices.Grow(c.out[:0], len(data)), c.spans[:0]
	err := c.write(a, 0)
	return c.out, err
}

// write appends the form of a value. What was taken apart is nested no deeper than a text
// may be.
func (c *canonical) write(a *apart, at int) error {
	n := &a.nodes[at]
	raw := a.data[n.start:n.end]
	switch raw[0] {
	case '{':
		return c.writeObject(a, at)
	case '[':
		return c.writeList(a, at)
	case '"':
		if n.escaped {
			return c.writeBy(canonicalText, raw)
		}
	case 't', 'f', 'n':
	default:
		return c.writeBy(c.number, raw)
	}
	c.out = append(c.out, raw...)
	return nil
}

func (c *canonical) writeBy(form func([]byte) ([]byte, error), raw []byte) error {
	text, err := form(raw)
	c.out = append(c.out, text...)
	return err
}

func (c *canonical) writeList(a *apart, at int) error {
	c.out = append(c.out, '[')
	for i, end := at+1, at+int(a.nodes[at].size); i < end; i += int(a.nodes[i].size) {
		if i > at+1 {
			c.out = append(c.out, ',')
		}
		if err := c.write(a, i); err != nil {
			return err
		}
	}
	c.out = append(c.out, ']')
	return nil
}

func (c *canonical) writeObject(a *apart, at int) error {
	first := len(c.spans)
	for i, end := at+1, at+int(a.nodes[at].size); i < end; i += int(a.nodes[i].size) {
		name := a.nodes[i].name
		m := span{name: a.data[name.start+1 : name.end-1], start: i}
		if at > 0 || c.drop == "" || string(m.name) != c.drop {
			c.spans = append(c.spans, m)
		}
	}
	copy(c.spans[first:], c.sort(c.spans[first:]))
	c.out = append(c.out, '{')
	for k, last := first, len(c.spans); k < last; k++ {
		if k > first {
			c.out = append(c.out, ',')
		}
		m := c.spans[k]
		c.out = append(append(append(c.out, '"'), m.name...), '"', ':')
		if err := c.write(a, m.start); err != nil {
			return err
		}
	}
	c.out = append(c.out, '}')
	c.spans = c.spans[:first]
	return nil
}
