package record

import "bytes"

// sound reports whether a text passes the rules of check for sure, in one pass. It is
// false also where that would take more to see: escaped member names, objects with very
// many members, halves of surrogate pairs that may be whole. check looks again then, and
// finds the words for what is wrong.
func sound(data []byte, depth int) bool {
	s := sounding{data: data, depth: depth}
	s.names = s.room[:0]
	return s.value() && s.skip() == 0 && s.at == len(data)
}

// sounding is how far a text was looked at.
type sounding struct {
	data  []byte
	at    int
	depth int // how many more brackets may be opened
	names []extent
	room  [maxNames]extent
}

// extent is where a member's name stands.
type extent struct{ start, end int }

// maxNames is how many members of one object are compared with each other.
const maxNames = 64

// skip passes over white space and gives the next byte, 0 at the end.
func (s *sounding) skip() byte {
	for ; s.at < len(s.data); s.at++ {
		if c := s.data[s.at]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

func (s *sounding) value() bool {
	switch c := s.skip(); {
	case c == '{':
		return s.object()
	case c == '[':
		return s.list()
	case c == '"':
		_, ok := s.text()
		return ok
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	default:
		return s.word("true") || s.word("false") || s.word("null")
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
		start := s.at
		escaped, ok := s.text()
		if !ok || escaped || !s.add(before, extent{start, s.at}) || s.skip() != ':' {
			return false
		}
		s.at++
		if !s.value() {
			return false
		}
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
		if bytes.Equal(s.data[other.start:other.end], text) {
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
	for s.at++; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; {
		case c == '"':
			s.at++
			return escaped, true
		case c < ' ':
			return escaped, false
		case c == '\\':
			escaped = true
			if !s.escape() {
				return escaped, false
			}
		}
	}
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
