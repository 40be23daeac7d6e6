package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// check holds the rules that every JSON text from outside has to pass. The
// cheapest come first: nothing is parsed before size, UTF-8 and depth are known
// to be in bounds.
func check(data []byte, limits Limits) error { return checkInto(nil, data, limits) }

// checkInto is check, and takes a text apart that one pass was enough for.
func checkInto(apart *apart, data []byte, limits Limits) error {
	if int64(len(data)) > limits.Size {
		return &SizeError{Size: int64(len(data)), Limit: limits.Size}
	}
	if !utf8.Valid(data) {
		return jsonError(data, firstInvalid(data), "", "not UTF-8")
	}
	if soundInto(apart, data, limits.Depth) {
		return nil
	}
	if at := tooDeep(data, limits.Depth); at >= 0 {
		e := jsonError(data, at, "", fmt.Sprintf("nested more than %d deep", limits.Depth))
		e.TooDeep = true
		return e
	}
	if !json.Valid(data) {
		return syntaxError(data)
	}
	return walk(data, &strict{data: data})
}

func firstInvalid(data []byte) int {
	for at := 0; at < len(data); {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return len(data)
}

// tooDeep is the offset of the bracket that is one too many, -1 without one.
func tooDeep(data []byte, limit int) int {
	s := scanner{data: data}
	for depth := 0; ; {
		switch s.peek() {
		case 0:
			if s.at >= len(data) {
				return -1
			}
			s.at++
		case '{', '[':
			if depth++; depth > limit {
				return s.at
			}
			s.at++
		case '}', ']':
			depth--
			s.at++
		case '"':
			s.text()
		default:
			s.at++
		}
	}
}

func syntaxError(data []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	e := jsonError(data, len(data), "", "not JSON")
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		// Offset is where reading stopped: behind the byte in question, but
		// for a text that ends too soon.
		if e = jsonError(data, int(syntax.Offset)-1, "", "not JSON: "+syntax.Error()); strings.HasPrefix(syntax.Error(), "unexpected end") {
			e = jsonError(data, len(data), "", e.Reason)
		}
	}
	e.syntax = true
	return e
}

// strict refuses what JSON readers disagree about: an object with two members of
// one name, and half of a surrogate pair.
type strict struct {
	data  []byte
	stack []place
}

// place is an open bracket and how far its content was read.
type place struct {
	object bool
	names  map[string]struct{} // made with the first one
	key    string
	index  int
}

func (v *strict) open(bracket byte) {
	v.element()
	v.stack = append(v.stack, place{object: bracket == '{', index: -1})
}

func (v *strict) close() { v.stack = v.stack[:len(v.stack)-1] }

func (v *strict) key(raw []byte, at int) error {
	if loneSurrogate(raw) {
		return v.fault(at, "member name with half of a surrogate pair")
	}
	top := &v.stack[len(v.stack)-1]
	top.key = unquote(raw)
	if _, twice := top.names[top.key]; twice {
		return v.fault(at, "a second member of this name")
	}
	if top.names == nil {
		top.names = make(map[string]struct{})
	}
	top.names[top.key] = struct{}{}
	return nil
}

func (v *strict) scalar(raw []byte, at int) error {
	v.element()
	if raw[0] == '"' && loneSurrogate(raw) {
		return v.fault(at, "text with half of a surrogate pair")
	}
	return nil
}

func (v *strict) element() {
	if len(v.stack) > 0 {
		v.stack[len(v.stack)-1].index++
	}
}

func (v *strict) fault(at int, reason string) error {
	var parts []string
	for _, p := range v.stack {
		if p.object {
			parts = append(parts, gjson.Escape(clip(p.key, 200)))
		} else {
			parts = append(parts, strconv.Itoa(p.index))
		}
	}
	return jsonError(v.data, at, strings.Join(parts, "."), reason)
}

// loneSurrogate looks at a valid JSON string as written. Half of a pair cannot be
// UTF-8, so two such texts would read as one.
func loneSurrogate(raw []byte) bool {
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' || !isSurrogate(raw, i-1, "89abAB", "cdefCDEF") {
			continue
		}
		if !isSurrogate(raw, i-1, "89abAB", "") || !isSurrogate(raw, i+5, "", "cdefCDEF") {
			return true
		}
		i += 10
	}
	return false
}

// isSurrogate reports whether \uDxyz stands at i with x in one of the two sets:
// high halves have 8-b there, low ones c-f.
func isSurrogate(raw []byte, i int, high, low string) bool {
	return i+5 < len(raw) && raw[i] == '\\' && raw[i+1] == 'u' && (raw[i+2] == 'd' || raw[i+2] == 'D') &&
		strings.IndexByte(high+low, raw[i+3]) >= 0
}

// clip keeps what an error says of a hostile name short.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
