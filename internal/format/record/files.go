package record

import "slices"

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
