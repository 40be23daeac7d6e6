package record

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/tidwall/gjson"
)

// Op is what happened to a value or an output.
type Op string

// The three things that can happen.
const (
	Added   Op = "added"
	Removed Op = "removed"
	Changed Op = "changed"
)

// Change is one difference. Path is in gjson's syntax and leads to New in the new
// document, or to Old in the old one where there is no New.
type Change struct {
	Path     string
	Op       Op
	Old, New json.RawMessage // nil when there is none
}

// root is the path of a whole document.
const root = "@this"

// maxDiff bounds the bytes that all paths of a diff take together, maxParts the
// members or elements of what is looked into. What is larger is compared as one.
const (
	maxDiff  = 16 << 20
	maxParts = 100_000
)

// Diff compares two documents that ParseJSON took; nil is none. Objects are
// compared member by member, arrays of objects with an id each by it, and other
// arrays as bags of values; an array whose elements were only moved is one change.
// Numbers are compared as decimals: 1.0 is 1, and 2^53+1 is not 2^53. Nothing is
// returned exactly when the documents are equal. What has more than 100,000 parts,
// or no path that gjson could follow, is one change as a whole. The order is that of the names;
// in an array: of the old elements, then of the new ones.
func Diff(old, new json.RawMessage) []Change {
	return DiffBy(old, new, func(string) []string { return []string{"id"} })
}

// DiffBy is Diff with other members than id to match the objects of arrays by: those
// that identity gives for the path of an array. The first one that all of its objects
// have is taken.
func DiffBy(old, new json.RawMessage, identity func(path string) []string) []Change {
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

// differ gathers changes; left is what of maxDiff is unused.
type differ struct {
	changes  []Change
	left     int
	identity func(path string) []string
}

func (d *differ) add(path string, op Op, old, new []byte) {
	if path == "" {
		path = root
	}
	d.changes = append(d.changes, Change{Path: path, Op: op, Old: old, New: new})
}

func (d *differ) value(path string, old, new []byte) {
	old, new = trimmed(old), trimmed(new)
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

// whole compares two values as one.
func (d *differ) whole(path string, old, new []byte) {
	if identity(old) != identity(new) {
		d.add(path, Changed, old, new)
	}
}

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

// pair compares what stands at one place, nil where nothing does.
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

// canName reports whether each part can stand in a path behind the given one: gjson
// has no way to say the empty name, and neither a path nor all of them may be too
// long. What it allows it takes off the bound.
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

// identity is a text that two values share exactly when they are equal.
func identity(value []byte) string {
	form, err := canonical{number: exactNumber}.form(value)
	if err != nil {
		return string(value)
	}
	return string(form)
}

func trimmed(value []byte) []byte { return bytes.TrimSpace(value) }
