package record

// This file compares two states. The paths in the result are gjson queries, so that a user can pass
// them to `git checkpoint show --get`. An element of an array is matched by its id if all elements
// have one, as in a list of tasks, and by value otherwise (difflist.go). Comparing by index would
// report every later element as changed after an insertion.

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/tidwall/gjson"
)

// Op tells what happened to a value or an output.
type Op string

// The kinds of changes.
const (
	Added   Op = "added"
	Removed Op = "removed"
	Changed Op = "changed"
)

// Change is one difference between two documents. Path is a gjson path that leads to New in the new
// document, or, if New is nil, to Old in the old document.
type Change struct {
	Path     string
	Op       Op
	Old, New json.RawMessage // nil: none
}

// Limits of a diff of hostile documents. maxDiff is the total length of all paths, in bytes.
// maxParts is the number of members or elements of one value; a larger value is compared as a
// whole.
const (
	maxDiff  = 16 << 20
	maxParts = 100_000
)

// Diff compares two documents that ParseJSON accepted; nil means no document. It returns no changes
// exactly if the documents are equal.
//
// Objects are compared member by member. identity returns, for the array at a path, names of members
// that identify its objects: these are compared by the first name that all of them have. An array
// without such a name is compared as a bag of values; if elements only changed their order, the whole
// array is one change. Numbers are compared as decimals: 1.0 equals 1, and 2^53+1 does not equal
// 2^53. A value with more than 100,000 parts, or with a part that no gjson path can express, is one
// change. Changes are sorted by member name; in an array the old elements come first, then the new
// ones.
func Diff(old, new json.RawMessage, identity func(path string) []string) []Change {
	d := differ{left: maxDiff, identity: identity}
	switch {
	case len(old) == 0 && len(new) == 0:
	case len(old) == 0:
		d.add("", Added, nil, new)
	case len(new) == 0:
		d.add("", Removed, old, nil)
	case json.Valid(old) && json.Valid(new):
		d.value("", old, new)
	case !bytes.Equal(old, new):
		d.add("", Changed, old, new)
	}
	return d.changes
}

// differ collects the changes. left is the unused part of maxDiff.
type differ struct {
	changes  []Change
	left     int
	identity func(path string) []string
}

func (d *differ) add(path string, op Op, old, new []byte) {
	const root = "@this" // the gjson path of a whole document
	if path == "" {
		path = root
	}
	d.changes = append(d.changes, Change{Path: path, Op: op, Old: old, New: new})
}

// value compares two values at the same path.
func (d *differ) value(path string, old, new []byte) {
	old, new = bytes.TrimSpace(old), bytes.TrimSpace(new)
	if bytes.Equal(old, new) {
		return
	}
	switch from, to := kind(old), kind(new); {
	case count(old) > maxParts || count(new) > maxParts:
		d.whole(path, old, new)
	case from == '{' && to == '{':
		d.object(path, old, new)
	case from == '[' && to == '[':
		d.array(path, old, new)
	default:
		d.whole(path, old, new)
	}
}

// whole compares two values without looking for differences inside them.
func (d *differ) whole(path string, old, new []byte) {
	if identity(old) != identity(new) {
		d.add(path, Changed, old, new)
	}
}

// object compares two objects. Members with the same bytes are skipped without parsing them.
func (d *differ) object(path string, old, new []byte) {
	was, is := maps.Collect(members(old)), maps.Collect(members(new))
	var names []string
	for name := range was {
		if !bytes.Equal(was[name], is[name]) {
			names = append(names, name)
		}
	}
	for name := range is {
		if _, known := was[name]; !known {
			names = append(names, name)
		}
	}
	if !d.canName(path, names) {
		d.whole(path, old, new)
		return
	}
	slices.Sort(names)
	for _, name := range names {
		d.pair(join(path, gjson.Escape(name)), was[name], is[name])
	}
}

// pair compares the old and new value at a path; nil means that there is none.
func (d *differ) pair(path string, old, new []byte) {
	switch {
	case old == nil:
		d.add(path, Added, nil, new)
	case new == nil:
		d.add(path, Removed, old, nil)
	default:
		d.value(path, old, new)
	}
}

// canName reports whether each part can follow path in a gjson path, and if so subtracts the
// lengths from the budget. gjson cannot express an empty name, and paths must not become too long.
// The factor of two leaves room for escapes.
func (d *differ) canName(path string, parts []string) bool {
	cost := 0
	for _, part := range parts {
		if part == "" || len(path)+2*len(part) >= maxPath {
			return false
		}
		cost += len(path) + len(part) + 1
	}
	if cost > d.left {
		return false
	}
	d.left -= cost
	return true
}

func join(path, part string) string {
	if path == "" {
		return part
	}
	return path + "." + part
}

// identity returns a string that is the same for two values exactly if they are equal.
func identity(value []byte) string {
	form, err := canonical(value, exactNumber)
	if err != nil {
		return string(value)
	}
	return string(form)
}
