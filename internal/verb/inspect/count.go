package inspect

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// FileCount is how many lines of a file differ.
type FileCount struct {
	Path, Old      string // Old is the former name of a renamed file
	Added, Deleted int
	Binary         bool // no lines are counted then
}

// CountsBetween counts the lines by which two trees, or commits, differ. Filters and external diffs of the user
// would make the numbers depend on the machine.
func CountsBetween(ctx context.Context, s *checkpoint.Service, a, b name.OID) ([]FileCount, error) {
	if counts, err := countHere(ctx, s, a, b); err == nil {
		return counts, nil
	}
	out, err := s.Repo.Run(ctx, git.Cmd{Args: []string{"diff-tree", "-r", "-z", "--no-renames", "--no-textconv", "--numstat", string(a), string(b)}})
	return Counts(string(out.Stdout)), err
}

// errAskGit says that only git can count.
var errAskGit = errors.New("git has to count")

// countHere is CountsBetween for a few small files: it takes longer to start git than to compare them.
func countHere(ctx context.Context, s *checkpoint.Service, a, b name.OID) ([]FileCount, error) {
	const files, size = 32, 1 << 20
	changes, err := s.Repo.Trees.Diff(ctx, a, b)
	if err != nil || len(changes) > files {
		return nil, errors.Join(err, errAskGit)
	}
	worktree, err := s.Worktree()
	if err != nil || worktree.HasAttributes(gather.List(changes, func(c git.Change) string { return c.Path })) { // such as -diff
		return nil, errors.Join(err, errAskGit)
	}
	var specs []string
	for _, c := range changes {
		for _, e := range []git.Entry{c.Old, c.New} {
			switch {
			case (e.Mode == git.ModeFile || e.Mode == git.ModeExec) && s.Repo.Objects.Batch().Has(e.OID): // git fetches what is not here
				specs = append(specs, string(e.OID))
			case e.Mode != 0:
				return nil, errAskGit
			}
		}
	}
	contents, sum := map[name.OID]string{}, int64(0)
	err = s.Repo.Objects.Batch().Info(ctx, specs, func(_ int, o git.Object, err error) error {
		if sum += o.Size; sum > size {
			return errAskGit
		}
		return err
	})
	if err == nil {
		err = s.Repo.Objects.Batch().Objects(ctx, specs, func(_ int, o git.Object, err error) error {
			contents[o.OID] = string(o.Data)
			return err
		})
	}
	counts := make([]FileCount, 0, len(changes))
	for i := 0; i < len(changes) && err == nil; i++ {
		var one FileCount
		one, err = countLines(contents[changes[i].Old.OID], contents[changes[i].New.OID])
		one.Path = changes[i].Path
		counts = append(counts, one)
	}
	return counts, err
}

// countLines counts the lines by which two contents differ. Between the first that differ and the last, the contents may have
// lines in common: if these are the same ones in the same order, only one difference is the smallest. Otherwise git chooses,
// and where a line occurs too often, it looks for no smallest difference.
func countLines(a, b string) (FileCount, error) {
	const begin = 8000 // where git looks for a NUL
	if strings.Contains(a[:min(len(a), begin)], "\x00") || strings.Contains(b[:min(len(b), begin)], "\x00") {
		return FileCount{Binary: true}, nil
	}
	x, y := slices.Collect(strings.Lines(a)), slices.Collect(strings.Lines(b))
	inX, inY := map[string]int{}, map[string]int{}
	for _, line := range x {
		inX[line]++
	}
	for _, line := range y {
		inY[line]++
	}
	often := min(len(x), len(y))
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	if len(x) == 0 || len(y) == 0 {
		return FileCount{Added: len(y), Deleted: len(x)}, nil
	}
	there := gather.SetOf(y)
	both := gather.Those(x, func(line string) bool { return there[line] })
	there = gather.SetOf(both)
	if !slices.Equal(both, gather.Those(y, func(line string) bool { return there[line] })) ||
		slices.ContainsFunc(both, func(line string) bool { return max(inX[line], inY[line])*max(inX[line], inY[line]) >= often }) {
		return FileCount{}, errAskGit
	}
	return FileCount{Added: len(y) - len(both), Deleted: len(x) - len(both)}, nil
}

// Counts parses the output of `git diff --numstat -z`: two counts and a path; for a renamed file
// the path is empty and two more fields follow.
func Counts(text string) (files []FileCount) {
	fields := strings.Split(text, "\x00")
	for i := 0; i < len(fields); i++ {
		// A field without three parts is the empty one after the last NUL.
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
