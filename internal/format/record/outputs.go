package record

import (
	"bytes"
	"maps"
	"slices"
)

// OutputChange is one output that differs between two records. On a side that lacks the output,
// lines are 0 and entries nil. Entries are also nil for an output that is not a JSON array.
type OutputChange struct {
	Name       string `json:"name"`
	Op         Op     `json:"op"`
	OldLines   int    `json:"old_lines"`
	NewLines   int    `json:"new_lines"`
	OldEntries *int   `json:"old_entries,omitempty"`
	NewEntries *int   `json:"new_entries,omitempty"`
}

// DiffOutputs compares outputs by the ids of their blobs. The result is sorted by name.
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

// CountLines counts lines as wc -l does, and a last one without a newline.
func CountLines(content []byte) int {
	lines := bytes.Count(content, []byte("\n"))
	if len(content) > 0 && content[len(content)-1] != '\n' {
		lines++
	}
	return lines
}

// Measure counts the lines of an output, and its elements if it is a JSON array within the default limits.
func Measure(content []byte) (lines int, entries *int) {
	lines = CountLines(content)
	if kind(content) != '[' || check(content, Limits{Size: MaxSize, Depth: MaxDepth}) != nil {
		return lines, nil
	}
	return lines, new(count(content))
}
