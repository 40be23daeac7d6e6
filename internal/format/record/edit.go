package record

// This file parses values and edits a state: by path, or with a merge patch. Only the objects and arrays on the way to the place are written
// again; every value in them keeps its bytes, so numbers keep their digits.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Set sets the value at a path and creates the missing objects and arrays on the way. value is text
// as for ParseValue. An empty state or null counts as {}.
func Set(state json.RawMessage, path, value string) (json.RawMessage, error) {
	parts, err := parseParts(path)
	if err != nil {
		return nil, fmt.Errorf("setting state: %w", err)
	}
	raw, err := ParseValue(value)
	if err != nil {
		return nil, fmt.Errorf("setting %q: %w", clip(path, 100), err)
	}
	return stateEdit{"setting", path, raw}.applyTo(state, parts)
}

// SetMetric sets one member of the object at path metrics, where the workflow keeps its metrics; if
// metrics is empty, of the state itself. name is a plain name, not a path: dots have no meaning.
func SetMetric(state json.RawMessage, metrics, name, value string) (json.RawMessage, error) {
	var parts []part
	if metrics != "" {
		var err error
		if parts, err = parseParts(metrics); err != nil {
			return nil, fmt.Errorf("setting metric %q: %w", clip(name, 100), err)
		}
	}
	if name == "" || !utf8.ValidString(name) {
		return nil, fmt.Errorf("setting metric %q: %w", clip(name, 100), badPath(metrics, "a metric has a name, in UTF-8"))
	}
	raw, err := ParseValue(value)
	if err != nil {
		return nil, fmt.Errorf("setting metric %q: %w", clip(name, 100), err)
	}
	path := strings.TrimPrefix(metrics+"."+gjson.Escape(name), ".")
	return stateEdit{"setting", path, raw}.applyTo(state, append(parts, part{name, true}))
}

// Unset removes the value at a path. It is an error if there is none.
func Unset(state json.RawMessage, path string) (json.RawMessage, error) {
	parts, err := parseParts(path)
	if err != nil {
		return nil, fmt.Errorf("unsetting state: %w", err)
	}
	return stateEdit{"unsetting", path, nil}.applyTo(state, parts)
}

// stateEdit sets the value at a path, or removes it.
type stateEdit struct {
	verb  string // for errors
	path  string
	value json.RawMessage // nil: remove
}

// applyTo edits a state. parts is the path as parsed.
func (e stateEdit) applyTo(state json.RawMessage, parts []part) (json.RawMessage, error) {
	document, err := startFrom(state)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", e.verb, clip(e.path, 100), err)
	}
	var edited []byte
	if e.value != nil && len(parts) > MaxDepth-1 {
		err = badPath(e.path, "more than %d levels", MaxDepth-1)
	} else {
		edited, err = e.apply(document, parts)
	}
	if err != nil {
		return nil, fmt.Errorf("%s state: %w", e.verb, err)
	}
	// An edit can exceed a limit, so the result is checked like a text from outside.
	if document, err = ParseJSON(edited, Limits{}); err != nil {
		return nil, fmt.Errorf("editing %q: %w", clip(e.path, 100), err)
	}
	return document, nil
}

// apply returns old with the value at parts set or removed. old is nil where there is nothing yet.
func (e stateEdit) apply(old []byte, parts []part) ([]byte, error) {
	if len(parts) == 0 {
		return e.value, nil
	}
	missing := badPath(e.path, "nothing is there")
	bracket := byte(kind(old))
	if old == nil || bracket == 'n' { // a null may be replaced by an object or array
		if e.value == nil {
			return nil, missing
		}
		bracket = '{'
		if n, is := parts[0].index(); is && n == 0 || parts[0].isEnd() { // a new array begins with index 0
			bracket = '['
		} else if name := clip(parts[0].name, 20); parts[0].looksLikeIndex() {
			return nil, badPath(e.path, "there is no array for index %s; write %q for a name", name, ":"+name)
		}
	}
	items, at, err := e.split(old, bracket, parts[0])
	if err != nil {
		return nil, err
	}
	if at < 0 || at == len(items) {
		if e.value == nil {
			return nil, missing
		}
		items, at = append(items, item{name: parts[0].name}), len(items)
	}
	changed, err := e.apply(items[at].value, parts[1:])
	if err != nil {
		return nil, err
	}
	if items[at].value = changed; changed == nil {
		items = slices.Delete(items, at, at+1)
	}
	return joined(items, bracket), nil
}

// item is a member of an object, or an element of an array, whose name has no meaning.
type item struct {
	name  string
	value []byte
}

// split returns the items of an object or array, and the place of the one that p means. The place
// is one past the end if there is none yet.
func (e stateEdit) split(old []byte, bracket byte, p part) (items []item, at int, err error) {
	switch bracket {
	case '{':
		for name, value := range members(old) {
			items = append(items, item{name, value})
		}
		if at = slices.IndexFunc(items, func(i item) bool { return i.name == p.name }); at < 0 {
			at = len(items)
		}
		return items, at, nil
	case '[':
		for value := range elements(old) {
			items = append(items, item{value: value})
		}
		n, ok := p.index()
		switch {
		case p.isEnd() && e.value == nil:
			return items, len(items) - 1, nil
		case p.isEnd():
			return items, len(items), nil
		case !p.looksLikeIndex():
			return nil, 0, badPath(e.path, "%q is not an index, but there is an array", clip(p.name, 100))
		case !ok || n > len(items):
			return nil, 0, badPath(e.path, "index %s is past the end of an array of %d", clip(p.name, 20), len(items))
		}
		return items, n, nil
	}
	return nil, 0, badPath(e.path, "%q would be in %s, which is neither an object nor an array", clip(p.name, 100), clip(string(old), 60))
}

// joined writes an object or array.
func joined(items []item, bracket byte) []byte {
	out := []byte{bracket}
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		if bracket == '{' {
			out = append(appendText(out, item.name), ':')
		}
		out = append(out, item.value...)
	}
	return append(out, bracket+2) // in ASCII, closing brackets come two after opening ones
}

// startFrom checks the state before an edit. An empty state and null become an empty object.
func startFrom(state json.RawMessage) (json.RawMessage, error) {
	if len(state) == 0 {
		return json.RawMessage("{}"), nil
	}
	document, err := ParseJSON(state, Limits{})
	if err == nil && kind(document) == 'n' {
		return json.RawMessage("{}"), nil
	}
	return document, err
}

// maxPath is the maximum length of a path into a document, in bytes.
const maxPath = 4096

// badPath returns the error for a path into a document that cannot be used.
func badPath(path, reason string, args ...any) error {
	return fmt.Errorf("path %q: "+reason, append([]any{clip(path, 200)}, args...)...)
}

// ParseJSON reads one JSON value with the same strictness as Parse: limited size and depth, UTF-8,
// no duplicate members. It returns a copy, and numbers keep their digits. The default depth leaves
// room for the record around the value.
func ParseJSON(data []byte, limits Limits) (json.RawMessage, error) {
	if err := check(data, limits.orDefault(MaxDepth-1)); err != nil {
		return nil, fmt.Errorf("parsing JSON: %w", err)
	}
	return slices.Clone(json.RawMessage(bytes.TrimLeft(data, " \t\r\n"))), nil
}

// ParseValue reads a value as typed on the command line: JSON, or else the text itself as a string.
// JSON that exceeds a limit or has duplicate members is an error, not a string.
func ParseValue(text string) (json.RawMessage, error) {
	value, err := ParseJSON([]byte(text), Limits{})
	if fault, is := errors.AsType[*JSONError](err); is && fault.syntax {
		return json.RawMessage(appendText(nil, text)), nil
	}
	return value, err
}

// An edit needs a path that leads to exactly one place, so gjson's queries, wildcards and modifiers are
// rejected.

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

// MergePatch applies a JSON merge patch (RFC 7396) to a state: a null removes the member, objects
// are merged, and any other value replaces the old one. The patch must be an object. Members that
// it does not have keep their bytes, so numbers keep their digits.
func MergePatch(state, patch json.RawMessage) (json.RawMessage, error) {
	document, err := startFrom(state)
	if err != nil {
		return nil, err
	}
	if patch, err = ParseJSON(patch, Limits{}); err != nil {
		return nil, fmt.Errorf("reading the patch: %w", err)
	}
	if kind(patch) != '{' {
		return nil, errors.New("reading the patch: it is not an object")
	}
	return ParseJSON(merged(document, patch), Limits{})
}

// merged returns target with patch applied: the members of target in their order, then those that
// only the patch has. target is nil if there is none.
func merged(target, patch []byte) []byte {
	if kind(patch) != '{' {
		return patch
	}
	changes := maps.Collect(members(patch))
	var out []item
	for name, old := range members(target) {
		change, named := changes[name]
		delete(changes, name)
		if !named {
			out = append(out, item{name, old})
		} else if kind(change) != 'n' {
			out = append(out, item{name, merged(old, change)})
		}
	}
	// What is left in changes has no counterpart in target. Ranging over patch keeps its order.
	for name, value := range members(patch) {
		if _, left := changes[name]; left && kind(value) != 'n' {
			out = append(out, item{name, merged(nil, value)})
		}
	}
	return joined(out, '{')
}
