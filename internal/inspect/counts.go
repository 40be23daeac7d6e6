package inspect

import (
	"strconv"
	"strings"
)

// FileCount is how many lines of a file differ.
type FileCount struct {
	Path, Old      string // Old: the name before, when it was renamed
	Added, Deleted int
	Binary         bool // then no lines are counted
}

// Counts reads `git diff --numstat -z`: counts, then a path, or an empty one and two paths.
func Counts(text string) (files []FileCount) {
	fields := strings.Split(text, "\x00")
	for i := 0; i < len(fields); i++ {
		counts := strings.SplitN(fields[i], "\t", 3)
		if len(counts) != 3 {
			continue
		}
		f := FileCount{Path: counts[2], Binary: counts[0] == "-"}
		f.Added, _ = strconv.Atoi(counts[0])   //nolint:errcheck // "-" is 0
		f.Deleted, _ = strconv.Atoi(counts[1]) //nolint:errcheck // likewise
		if f.Path == "" && i+2 < len(fields) {
			f.Old, f.Path = fields[i+1], fields[i+2]
			i += 2
		}
		files = append(files, f)
	}
	return files
}
