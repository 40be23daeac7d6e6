package record

import "slices"

// MaxListed is how many paths a list of changed files has at most; the trees have
// them all.
const MaxListed = 1000

// NewFiles counts and sorts the lists, and cuts each at MaxListed. What it is
// given stays as it is.
func NewFiles(created, modified, deleted []Path) Files {
	f := Files{Counts: [3]int{len(created), len(modified), len(deleted)}}
	f.Created = f.listed(created)
	f.Modified = f.listed(modified)
	f.Deleted = f.listed(deleted)
	return f
}

// Total is the number of files changed, listed or not.
func (f Files) Total() int { return f.Counts[0] + f.Counts[1] + f.Counts[2] }

func (f *Files) listed(paths []Path) []Path {
	sorted := slices.Sorted(slices.Values(paths))
	if len(sorted) <= MaxListed {
		return sorted
	}
	f.Truncated = true
	return slices.Clip(sorted[:MaxListed])
}
