package hook

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// slowWords says which of the files that a checkpoint captured anew are the largest, and how to leave
// them out; "" if it was fast.
func slowWords(repo *git.Repo, rec *record.Record, took time.Duration) string {
	const slowCapture = 2 * time.Second // how long a hook may capture before the person is told what costs so much
	const costliest = 3                 // how many files are named
	if took <= slowCapture {
		return ""
	}
	type file struct {
		path string
		size int64
	}
	var files []file
	for _, p := range slices.Concat(rec.Files.Created, rec.Files.Modified) {
		if info, err := os.Lstat(filepath.Join(repo.WorkTree, string(p))); err == nil {
			files = append(files, file{string(p), info.Size()})
		}
	}
	slices.SortStableFunc(files, func(a, b file) int { return cmp.Compare(b.size, a.size) })
	if len(files) == 0 {
		return ""
	}
	named := gather.List(files[:min(costliest, len(files))], func(f file) string { return fmt.Sprintf("%s (%s)", oneLine(f.path), render.Size(f.size)) })
	return fmt.Sprintf("git checkpoint: this checkpoint took %.0f s, for %s; `git config --add checkpoint.exclude %s` leaves a file out",
		took.Seconds(), strings.Join(named, ", "), name.Quoted(oneLine(files[0].path)))
}
