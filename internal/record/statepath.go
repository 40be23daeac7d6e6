package record

// This file parses paths for edits and resolves them against a document. An edit needs a path that
// leads to exactly one place, so queries, wildcards and modifiers are rejected here, although sjson
// accepts some.

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// part is one part of a path, between two dots: the name of a member or the index of an element.
type part struct {
	name   string
	forced bool // written ":7": a name, although it looks like an index
}

// endIndex is the index of the end of an array: the place after the last element when a value is
// set, and the last element when one is removed.
const endIndex = "-1"

// parseParts parses a path in sjson's syntax: parts separated by dots; a backslash before a
// character takes away its special meaning; a colon before digits makes them a name.
func parseParts(path string) ([]part, error) {
	if path == "" || len(path) > maxPath || !utf8.ValidString(path) {
		return nil, &PathError{Path: path, Reason: fmt.Sprintf("a path has 1 to %d bytes of UTF-8", maxPath)}
	}
	var parts []part
	var text strings.Builder
	forced := false
	end := func() error {
		if text.Len() == 0 {
			return &PathError{Path: path, Reason: "a part of it is empty"}
		}
		parts = append(parts, part{text.String(), forced})
		text.Reset()
		forced = false
		return nil
	}
	for i := 0; i < len(path); i++ {
		switch c := path[i]; c {
		case '.':
			if err := end(); err != nil {
				return nil, err
			}
		case '\\':
			if i++; i == len(path) {
				return nil, &PathError{Path: path, Reason: `there is nothing after the "\" at its end`}
			}
			text.WriteByte(path[i])
		case '*', '?', '#', '|', '@':
			return nil, &PathError{Path: path, Reason: fmt.Sprintf(`%q would name more than one place; write "\%c" for a name with it`, c, c)}
		case ':':
			if text.Len() == 0 && !forced {
				forced = true
				continue
			}
			text.WriteByte(c)
		default:
			text.WriteByte(c)
		}
	}
	if err := end(); err != nil {
		return nil, err
	}
	return parts, nil
}

// index returns the index that the part means in an array, and false if it is none. endIndex is
// handled by within.
func (p part) index() (int, bool) {
	if p.forced || p.name == "" || strings.Trim(p.name, "0123456789") != "" || len(p.name) > 9 {
		return 0, false
	}
	n, err := strconv.Atoi(p.name)
	return n, err == nil
}

// looksLikeIndex reports whether sjson would create an array for the part.
func (p part) looksLikeIndex() bool {
	return !p.forced && (p.name == endIndex || strings.Trim(p.name, "0123456789") == "")
}

// location is the place of a path in a document, as far as it exists.
type location struct {
	spelled []string // the parts that exist, and a new last one, in sjson's syntax
	holder  []byte   // the object or array in which the last part was looked up
	exists  bool     // the whole path leads to a value
}

// resolve follows parts through document as far as they exist. end returns which element of an
// array of n endIndex means. A part inside a string or a number, or past the end of an array, is an
// error: sjson would replace the string and fill the array with nulls.
func resolve(document json.RawMessage, path string, parts []part, end func(n int) int) (l location, err error) {
	at := []byte(document)
	for _, p := range parts {
		l.holder = at
		switch kind(at) {
		case '{':
			l.spelled = append(l.spelled, asName(p.name))
			if at = memberOf(at, p.name); at == nil {
				return l, nil
			}
		case '[':
			n, err := p.within(count(at), end)
			if err != nil {
				return l, &PathError{Path: path, Reason: err.Error()}
			}
			if at = elementOf(at, n); at == nil {
				l.spelled = append(l.spelled, endIndex)
				return l, nil
			}
			l.spelled = append(l.spelled, strconv.Itoa(n))
		// A null may be replaced by an object or array.
		case 'n':
			return l, nil
		default:
			return l, &PathError{Path: path, Reason: fmt.Sprintf("%q would be in %s, which is neither an object nor an array", clip(p.name, 100), clip(string(at), 60))}
		}
	}
	l.exists = true
	return l, nil
}

// within returns the index of the part in an array of n elements, or n for a new one.
func (p part) within(n int, end func(n int) int) (int, error) {
	i, ok := p.index()
	switch {
	case p.name == endIndex && !p.forced:
		return end(n), nil
	case !p.looksLikeIndex():
		return 0, fmt.Errorf("%q is not an index, but there is an array", clip(p.name, 100))
	case !ok || i > n:
		return 0, fmt.Errorf("index %s is past the end of an array of %d", clip(p.name, 20), n)
	}
	return i, nil
}

// spell completes the path with the parts that do not exist yet. A new array begins with index 0.
func (l location) spell(path string, parts []part) ([]string, error) {
	spelled := l.spelled
	for _, p := range parts[len(l.spelled):] {
		n, isIndex := p.index()
		switch {
		case isIndex && n == 0, p.name == endIndex && !p.forced:
			spelled = append(spelled, "0")
		case p.looksLikeIndex():
			return nil, &PathError{Path: path, Reason: fmt.Sprintf("there is no array for index %s; write %q for a name", clip(p.name, 20), ":"+clip(p.name, 20))}
		default:
			spelled = append(spelled, asName(p.name))
		}
	}
	return spelled, nil
}

// asName returns a name in sjson's syntax such that it has no other meaning.
func asName(name string) string { return ":" + gjson.Escape(name) }

// memberOf returns the value of a member, or nil.
func memberOf(object []byte, name string) []byte {
	for key, value := range members(object) {
		if key == name {
			return value
		}
	}
	return nil
}

// elementOf returns an element of an array, or nil if the index is past the end.
func elementOf(array []byte, index int) []byte {
	i := 0
	for item := range elements(array) {
		if i == index {
			return item
		}
		i++
	}
	return nil
}

// count returns the number of elements of an array or members of an object, and 0 for any other
// value.
func count(value []byte) int {
	n := 0
	for range elements(value) {
		n++
	}
	for range members(value) {
		n++
	}
	return n
}
