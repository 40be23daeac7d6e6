package record

import (
	"bytes"
	"math"
)

// sound reports whether a text passes the rules of check for sure, in one pass. It is
// false also where that would take more to see: escaped member names, objects with very
// many members, halves of surrogate pairs that may be whole. check looks again then, and
// finds the words for what is wrong.
func sound(data []byte, depth int) bool { return soundInto(nil, data, depth) }

// soundInto is sound, and takes the text apart meanwhile unless apart is nil. Where it is
// false apart has nothing.
func soundInto(apart *apart, data []byte, depth int) bool {
	s := sounding{data: data, depth: depth, apart: apart}
	if apart != nil {
		s.names = apart.names[:0]
	}
	ok := len(data) <= math.MaxInt32 && s.value() && s.skip() == 0 && s.at == len(data)
	if apart != nil {
		apart.names = s.names
		if !ok {
			apart.nodes = apart.nodes[:0]
		}
	}
	return ok
}

// sounding is how far a text was looked at.
type sounding struct {
	data  []byte
	at    int
	depth int // how many more brackets may be opened
	names []extent
	apart *apart // nil: nobody wants it
}

// extent is where something stands.
type extent struct{ start, end int32 }

// maxNames is how many members of one object are compared with each other.
const maxNames = 64

// skip passes over white space and gives the next byte, 0 at the end.
func (s *sounding) skip() byte {
	data, at := s.data, s.at
	for ; at < len(data); at++ {
		if c := data[at]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			s.at = at
			return c
		}
	}
	s.at = at
	return 0
}

func (s *sounding) value() bool {
	c := s.skip()
	if s.apart == nil {
		_, ok := s.valueOf(c)
		return ok
	}
	n := s.apart.begin(s.at)
	escaped, ok := s.valueOf(c)
	if ok {
		s.apart.end(n, s.at, escaped)
	}
	return ok
}

// valueOf passes over the value that begins with c; escaped says so of a text.
func (s *sounding) valueOf(c byte) (escaped, ok bool) {
	switch {
	case c == '"':
		return s.text()
	case c == '{':
		return false, s.object()
	case c == '[':
		return false, s.list()
	case c == '-' || c >= '0' && c <= '9':
		return false, s.number()
	default:
		return false, s.word("true") || s.word("false") || s.word("null")
	}
}

func (s *sounding) word(w string) bool {
	if !bytes.HasPrefix(s.data[s.at:], []byte(w)) {
		return false
	}
	s.at += len(w)
	return true
}

// begin opens a bracket, and says whether the one that closes it follows at once.
func (s *sounding) begin(end byte) (empty, ok bool) {
	s.at++
	if s.depth--; s.depth < 0 {
		return false, false
	}
	if s.skip() != end {
		return false, true
	}
	s.end()
	return true, true
}

func (s *sounding) end() {
	s.at++
	s.depth++
}

func (s *sounding) object() bool {
	empty, ok := s.begin('}')
	if empty || !ok {
		return ok
	}
	before := len(s.names)
	for {
		if s.skip() != '"' {
			return false
		}
		name := extent{start: int32(s.at)} //nolint:gosec // more is not looked at in one pass
		escaped, ok := s.text()
		name.end = int32(s.at) //nolint:gosec // as above
		if !ok || escaped || !s.add(before, name) || s.skip() != ':' {
			return false
		}
		s.at++
		member := s.apart.next()
		if !s.value() {
			return false
		}
		s.apart.called(member, name)
		switch s.skip() {
		case ',':
			s.at++
		case '}':
			s.names = s.names[:before]
			s.end()
			return true
		default:
			return false
		}
	}
}

// add remembers the name of a member, unless there is one of its name.
func (s *sounding) add(before int, name extent) bool {
	text := s.data[name.start:name.end]
	for _, other := range s.names[before:] {
		if other.end-other.start == name.end-name.start && bytes.Equal(s.data[other.start:other.end], text) {
			return false
		}
	}
	s.names = append(s.names, name)
	return len(s.names)-before <= maxNames
}

func (s *sounding) list() bool {
	empty, ok := s.begin(']')
	if empty || !ok {
		return ok
	}
	for {
		if !s.value() {
			return false
		}
		switch s.skip() {
		case ',':
			s.at++
		case ']':
			s.end()
			return true
		default:
			return false
		}
	}
}

// text passes over a string.
func (s *sounding) text() (escaped, ok bool) {
	for at := s.at + 1; at < len(s.data); at++ {
		c := s.data[at]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		if s.at = at; c == '"' {
			s.at++
			return escaped, true
		}
		escaped = true
		if c != '\\' || !s.escape() {
			return escaped, false
		}
		at = s.at
	}
	s.at = len(s.data)
	return escaped, false
}

// escape passes over an escape but for its last byte.
func (s *sounding) escape() bool {
	s.at++
	if s.at >= len(s.data) {
		return false
	}
	if s.data[s.at] != 'u' {
		return bytes.IndexByte([]byte(`"\/bfnrt`), s.data[s.at]) >= 0
	}
	if len(s.data)-s.at < 5 {
		return false
	}
	for _, c := range s.data[s.at+1 : s.at+5] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	surrogate := s.data[s.at+1]|0x20 == 'd' && s.data[s.at+2] >= '8'
	s.at += 4
	return !surrogate
}

func (s *sounding) number() bool {
	s.word("-")
	if !s.word("0") && !s.digits() {
		return false
	}
	if s.word(".") && !s.digits() {
		return false
	}
	if s.word("e") || s.word("E") {
		if !s.word("+") {
			s.word("-")
		}
		return s.digits()
	}
	return true
}

// digits passes over one digit or more.
func (s *sounding) digits() bool {
	start := s.at
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
		s.at++
	}
	return s.at > start
}
