package record

// This file edits a state by path. It uses sjson, which keeps everything else byte for byte, but is
// lax about paths: it overwrites a string with an object, fills an array with nulls, and treats
// special characters in several ways. So every path is first resolved against the document
// (statepath.go), which finds such cases, and then rewritten into a form that sjson cannot
// misunderstand.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Set sets the value at a path, in sjson's syntax, and creates the missing objects and arrays on
// the way. value is text as for ParseValue. Everything else keeps its bytes, so numbers keep their
// digits. An empty state or null counts as {}.
func Set(state json.RawMessage, path, value string, limits Limits) (json.RawMessage, error) {
	parts, err := parseParts(path)
	if err != nil {
		return nil, fmt.Errorf("setting state: %w", err)
	}
	raw, err := ParseValue(value, limits)
	if err != nil {
		return nil, fmt.Errorf("setting %q: %w", clip(path, 100), err)
	}
	return set(state, path, parts, raw, limits)
}

// SetMetric sets one member of the object at path metrics, where the workflow keeps its metrics; if
// metrics is empty, of the state itself. name is a plain name, not a path: dots have no meaning.
func SetMetric(state json.RawMessage, metrics, name, value string, limits Limits) (json.RawMessage, error) {
	var parts []part
	if metrics != "" {
		var err error
		if parts, err = parseParts(metrics); err != nil {
			return nil, fmt.Errorf("setting metric %q: %w", clip(name, 100), err)
		}
	}
	if name == "" {
		return nil, fmt.Errorf("setting metric: %w", &PathError{Path: metrics, Reason: "a metric has a name"})
	}
	raw, err := ParseValue(value, limits)
	if err != nil {
		return nil, fmt.Errorf("setting metric %q: %w", clip(name, 100), err)
	}
	return set(state, strings.TrimPrefix(metrics+"."+gjson.Escape(name), "."), append(parts, part{name, true}), raw, limits)
}

// Unset removes the value at a path. If there is none, the error is a *PathError with Missing set.
func Unset(state json.RawMessage, path string, limits Limits) (json.RawMessage, error) {
	parts, err := parseParts(path)
	if err != nil {
		return nil, fmt.Errorf("unsetting state: %w", err)
	}
	document, err := startFrom(state, limits)
	if err != nil {
		return nil, fmt.Errorf("unsetting %q: %w", clip(path, 100), err)
	}
	l, err := resolve(document, path, parts, lastElement)
	if err == nil && !l.exists {
		err = &PathError{Path: path, Reason: "nothing is there", Missing: true}
	}
	if err != nil {
		return nil, fmt.Errorf("unsetting state: %w", err)
	}
	rest := without(l, parts[len(parts)-1].name)
	// The document itself is what holds the last part, and sjson has no path for that.
	if len(parts) == 1 {
		return finished(path, rest, nil, limits)
	}
	edited, err := sjson.SetRawBytes(slices.Clone(document), strings.Join(l.spelled[:len(parts)-1], "."), rest)
	return finished(path, edited, err, limits)
}

// without writes the object or array that holds the last part again, without that part.
// sjson.Delete fails for names that begin with a quote.
func without(l location, name string) []byte {
	var rest [][]byte
	index := 0
	for item := range elements(l.holder) {
		if strconv.Itoa(index) != l.spelled[len(l.spelled)-1] {
			rest = append(rest, item)
		}
		index++
	}
	for key, value := range members(l.holder) {
		if key != name {
			rest = append(rest, append(append(appendText(nil, key), ':'), value...))
		}
	}
	bracket := byte(kind(l.holder)) // in ASCII, closing brackets come two after opening ones
	return append(append([]byte{bracket}, bytes.Join(rest, []byte(","))...), bracket+2)
}

// set does the work of Set and SetMetric. parts is path as parsed, raw is the value.
func set(state json.RawMessage, path string, parts []part, raw json.RawMessage, limits Limits) (json.RawMessage, error) {
	document, err := startFrom(state, limits)
	if err != nil {
		return nil, fmt.Errorf("setting %q: %w", clip(path, 100), err)
	}
	if depth := limits.orDefault(MaxDepth - 1).Depth; len(parts) > depth {
		return nil, fmt.Errorf("setting state: %w", &PathError{Path: path, Reason: fmt.Sprintf("more than %d levels", depth)})
	}
	l, err := resolve(document, path, parts, newElement)
	if err != nil {
		return nil, fmt.Errorf("setting state: %w", err)
	}
	spelled, err := l.spell(path, parts)
	if err != nil {
		return nil, fmt.Errorf("setting state: %w", err)
	}
	edited, err := sjson.SetRawBytes(slices.Clone(document), strings.Join(spelled, "."), raw)
	return finished(path, edited, err, limits)
}

// newElement and lastElement give the meaning of index -1 in an array of n: behind the end when a
// value is set, the last element when one is removed.
func newElement(n int) int { return n }

func lastElement(n int) int { return n - 1 }

// startFrom checks the state before an edit. An empty state and null become an empty object.
func startFrom(state json.RawMessage, limits Limits) (json.RawMessage, error) {
	if len(state) == 0 {
		return json.RawMessage("{}"), nil
	}
	document, err := ParseJSON(state, limits)
	if err == nil && kind(document) == 'n' {
		return json.RawMessage("{}"), nil
	}
	return document, err
}

// finished checks the result of an edit like a text from outside, since an edit can exceed a limit.
func finished(path string, edited []byte, err error, limits Limits) (json.RawMessage, error) {
	if err == nil {
		edited, err = ParseJSON(edited, limits)
	}
	if err != nil {
		return nil, fmt.Errorf("editing %q: %w", clip(path, 100), err)
	}
	return edited, nil
}
