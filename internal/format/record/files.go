package record

import (
	"fmt"
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
