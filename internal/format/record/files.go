package record

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxListed is the maximum length of a list of changed files. Complete lists can be computed from
// the trees.
const MaxListed = 1000

// NewFiles counts and sorts the lists and cuts each at MaxListed. It does not change its arguments.
func NewFiles(created, modified, deleted []Path) Files {
	f := Files{Counts: [3]int{len(created), len(modified), len(deleted)}}
	f.Created = f.listed(created)
	f.Modified = f.listed(modified)
	f.Deleted = f.listed(deleted)
	return f
}

// Total returns the number of files changed, including those that were cut.
func (f Files) Total() int { return f.Counts[0] + f.Counts[1] + f.Counts[2] }

// listed returns a sorted copy of paths, cut at MaxListed, and sets Truncated if it was cut.
func (f *Files) listed(paths []Path) []Path {
	sorted := slices.Sorted(slices.Values(paths))
	if len(sorted) <= MaxListed {
		return sorted
	}
	f.Truncated = true
	return slices.Clip(sorted[:MaxListed])
}

// Named names the first two files that a checkpoint changed and counts the rest: "a, b and 3 more". It is empty if
// none changed.
func (f Files) Named() string {
	const named = 2
	var all []string
	for _, path := range slices.Concat(f.Modified, f.Created, f.Deleted) {
		if all = append(all, string(path)); len(all) == named {
			break
		}
	}
	text := strings.Join(all, ", ")
	switch more := f.Total() - len(all); {
	case more > 0:
		text += fmt.Sprintf(" and %d more", more)
	case len(all) == named:
		text = all[0] + " and " + all[1]
	}
	return text
}

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
