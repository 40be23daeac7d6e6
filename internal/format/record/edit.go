package record

// This file edits a state by path. Only the objects and arrays on the way to the place are written
// again; every value in them keeps its bytes, so numbers keep their digits.

import (
	"encoding/json"
	"fmt"
	"slices"
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
