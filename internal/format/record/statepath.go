package record

// This file parses paths for edits. An edit needs a path that leads to exactly one place, so gjson's
// queries, wildcards and modifiers are rejected here.

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// part is one part of a path, between two dots: the name of a member or the index of an element.
type part struct {
	name   string
	forced bool // written ":7": a name, although it looks like an index
}

// endIndex is the index of the end of an array: the place after the last element when a value is
// set, and the last element when one is removed.
const endIndex = "-1"

// parseParts parses a path: parts separated by dots; a backslash before a
// character takes away its special meaning; a colon before digits makes them a name.
func parseParts(path string) ([]part, error) {
	if path == "" || len(path) > maxPath || !utf8.ValidString(path) {
		return nil, badPath(path, "a path has 1 to %d bytes of UTF-8", maxPath)
	}
	var parts []part
	var text strings.Builder
	forced := false
	end := func() error {
		if text.Len() == 0 {
			return badPath(path, "a part of it is empty")
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
				return nil, badPath(path, `there is nothing after the "\" at its end`)
			}
			text.WriteByte(path[i])
		case '*', '?', '#', '|', '@':
			return nil, badPath(path, `%q would name more than one place; write "\%c" for a name with it`, c, c)
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

// index returns the index that the part means in an array, and false if it is none. See isEnd for
// endIndex.
func (p part) index() (int, bool) {
	if p.forced || p.name == "" || strings.Trim(p.name, "0123456789") != "" || len(p.name) > 9 {
		return 0, false
	}
	n, err := strconv.Atoi(p.name)
	return n, err == nil
}

// isEnd reports whether the part is endIndex.
func (p part) isEnd() bool { return p.name == endIndex && !p.forced }

// looksLikeIndex reports whether the part means an index, though perhaps one that is too large.
func (p part) looksLikeIndex() bool {
	return !p.forced && (p.name == endIndex || strings.Trim(p.name, "0123456789") == "")
}

// memberOf returns the value of a member, or nil.
func memberOf(object []byte, name string) []byte {
	for key, value := range members(object) {
		if key == name {
			return value
		}
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
