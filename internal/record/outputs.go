package record

import (
	"bytes"
	"maps"
	"slices"
)

// OutputChange is one output that two records do not have in common. Lines are 0
// and entries nil on a side that lacks the output; entries are nil for what is no
// JSON array.
type OutputChange struct {
	Name       string
	Op         Op
	OldLines   int
	NewLines   int
	OldEntries *int
	NewEntries *int
}

// DiffOutputs compares outputs by their blobs, in the order of the names.
func DiffOutputs(old, new map[string]Output) []OutputChange {
	names := slices.Collect(maps.Keys(old))
	names = slices.AppendSeq(names, maps.Keys(new))
	slices.Sort(names)
	var changes []OutputChange
	for _, name := range slices.Compact(names) {
		was, had := old[name]
		is, has := new[name]
		op := Changed
		switch {
		case !had:
			op = Added
		case !has:
			op = Removed
		case was.OID == is.OID:
			continue
		}
		changes = append(changes, OutputChange{name, op, was.Lines, is.Lines, was.Entries, is.Entries})
	}
	return changes
}

// Measure counts the lines of an output, the last one also without a newline, and
// the entries when it is a JSON array within the limits.
func Measure(content []byte, limits Limits) (lines int, entries *int) {
	lines = bytes.Count(content, []byte("\n"))
	if len(content) > 0 && content[len(content)-1] != '\n' {
		lines++
	}
	if kind(content) != '[' || check(content, limits.orDefault(MaxDepth)) != nil {
		return lines, nil
	}
	n := count(content)
	return lines, &n
}
