package inspect

// This file counts added and deleted lines, from the output of git.

import (
	"strconv"
	"strings"
)

// FileCount is how many lines of a file differ.
type FileCount struct {
	Path, Old      string // Old is the former name of a renamed file
	Added, Deleted int
	Binary         bool // no lines are counted then
}

// Counts parses the output of `git diff --numstat -z`: two counts and a path; for a renamed file
// the path is empty and two more fields follow.
func Counts(text string) (files []FileCount) {
	fields := strings.Split(text, "\x00")
	for i := 0; i < len(fields); i++ {
		// A field without three parts is the empty one behind the last NUL.
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
