package record

import (
	"bytes"
	"encoding/json"
	"iter"
)

// scanner steps over the values of a text that encoding/json found valid. On any
// other text it may stop anywhere, but it ends and stays inside.
type scanner struct {
	data []byte
	at   int
}

// peek is the first byte of the next token, 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return s.data[s.at]
		}
	}
	return 0
}

// scalar steps over a string, number or literal and returns it as written.
func (s *scanner) scalar() []byte {
	start := s.at
	if s.data[s.at] == '"' {
		return s.text()
	}
	for s.at++; s.at < len(s.data); s.at++ {
		switch s.data[s.at] {
		case ',', ':', ']', '}', ' ', '\t', '\r', '\n':
			return s.data[start:s.at]
		}
	}
	return s.data[start:s.at]
}

func (s *scanner) text() []byte {
	start := s.at
	for s.at++; s.at < len(s.data); s.at++ {
		switch s.data[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return s.data[start:s.at]
		}
	}
	s.at = len(s.data)
	return s.data[start:]
}

// value steps over a whole value and returns it as written.
func (s *scanner) value() []byte {
	s.peek()
	start := s.at
	for depth := 0; s.at < len(s.data); {
		switch s.peek() {
		case 0:
			return s.data[start:]
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ',', ':':
			s.at++
		default:
			s.scalar()
		}
		if depth <= 0 {
			break
		}
	}
	return s.data[start:min(s.at, len(s.data))]
}

// members yields the members of an object: names unescaped, values as written.
func members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for key, value := range written(object) {
			if !yield(unquote(key), value) {
				return
			}
		}
	}
}

// written yields the members of an object, names and values as written.
func written(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		s := scanner{data: object}
		if s.peek() != '{' {
			return
		}
		s.at++
		for c := s.peek(); c == '"' || c == ','; c = s.peek() {
			if c == ',' {
				s.at++
				continue
			}
			key := s.text()
			if s.peek() == ':' {
				s.at++
			}
			if !yield(key, s.value()) {
				return
			}
		}
	}
}

// elements yields the elements of an array, as written.
func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		s := scanner{data: array}
		if s.peek() != '[' {
			return
		}
		s.at++
		for c := s.peek(); c != ']' && c != 0; c = s.peek() {
			if c == ',' {
				s.at++
				continue
			}
			if !yield(s.value()) {
				return
			}
		}
	}
}

// kind is the first byte of a value, which tells its type: { [ " t f n, or one of
// a number.
func kind(value []byte) byte {
	s := scanner{data: value}
	return s.peek()
}

// unquote gives the text of a JSON string.
func unquote(raw []byte) string {
	if isVerbatim(raw) {
		return string(raw[1 : len(raw)-1])
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

// isVerbatim reports whether a JSON string has no escapes: it is its own text.
func isVerbatim(raw []byte) bool { return len(raw) >= 2 && bytes.IndexByte(raw, '\\') < 0 }
