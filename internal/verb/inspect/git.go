package inspect

// This file runs git for output that goes directly to the user, and for the counts of lines that it gives.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// IO says where the output of git goes.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	Color    string // "always", "never", or "" for git's configuration
	Env      []string
}

// PrintDiff lets git print the differing files, with the given flags and paths. It returns git's
// exit code. An empty side is the empty tree.
func PrintDiff(ctx context.Context, s *checkpoint.Service, d *Difference, paths, flags []string, to IO) (int, error) {
	empty, err := checkpoint.RetryBorrowed(s, func() (name.OID, error) { return s.Repo.Trees.Write(ctx, nil) })
	if err != nil {
		return 1, err
	}
	args := append([]string{"--no-pager", "diff"}, flags...)
	if to.Color != "" {
		args = append(args, "--color="+to.Color)
	}
	// git diff needs two trees. A side without files is compared as the empty tree.
	args = append(args, string(cmp.Or(d.FromTree, empty)), string(cmp.Or(d.ToTree, empty)), "--")
	return pass(ctx, s.Repo, append(args, paths...), to)
}

// pass runs git in the user's directory with the user's configuration for output. It returns git's
// exit code.
func pass(ctx context.Context, repo *git.Repo, args []string, to IO) (int, error) {
	// git.Run sets core.quotePath for the output that this program parses. This output is for
	// people.
	if quoted, err := repo.Config.Bool("core.quotePath", true); err == nil && !quoted {
		args = append([]string{"-c", "core.quotePath=false"}, args...)
	}
	dir := filepath.Join(repo.WorkTree, filepath.FromSlash(repo.Prefix))
	var said bytes.Buffer
	_, err := repo.Run(ctx, git.Cmd{Args: args, Dir: dir, Env: to.Env, Stdin: to.In, Stdout: to.Out, Stderr: &said})
	if failed, is := errors.AsType[*git.Error](err); is {
		if failed.Stderr = said.String(); errors.Is(err, git.ErrUnreadable) {
			first, _, _ := strings.Cut(failed.Stderr, "\n")
			return 1, fmt.Errorf("%w: git says %q", git.ErrUnreadable, first)
		}
	}
	_, _ = said.WriteTo(to.Err) // if stderr cannot be written, nobody can be told
	if code := git.ExitCode(err); code > 0 {
		return code, nil
	}
	if git.EndedBy(err, syscall.SIGPIPE) { // the reader, such as a pager, was closed
		return 128 + int(syscall.SIGPIPE), nil
	}
	return 0, err
}

// GitTime returns the time that git takes a text for, from the clock of the service. git takes unknown words for now.
func GitTime(ctx context.Context, s *store.Store, text string) (time.Time, error) {
	res, err := s.Repo.Run(ctx, git.Cmd{Args: []string{"rev-parse", "--since=" + text}, Env: []string{"GIT_TEST_DATE_NOW=" + strconv.FormatInt(s.Now().Unix(), 10)}})
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(string(res.Stdout), "--max-age=")), 10, 64)
	return time.Unix(seconds, 0), err
}

// CommitFields returns what git prints of the commits in lists for placeholders of git log, by commit and placeholder.
func CommitFields(ctx context.Context, repo *git.Repo, lists []Listing, placeholders []string) (map[name.OID]map[string]string, error) {
	fields, commits := map[name.OID]map[string]string{}, ""
	for _, l := range lists {
		for _, item := range l.Items {
			commits += string(item.Commit) + "\n"
		}
	}
	if len(placeholders) == 0 || commits == "" {
		return fields, nil
	}
	res, err := repo.Run(ctx, git.Cmd{
		Args: []string{"log", "--no-walk=unsorted", "--no-show-signature", "--ignore-missing", "--stdin", "-z", "--format=%H%x01" + strings.Join(placeholders, "%x01")}, Stdin: strings.NewReader(commits),
	})
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(string(res.Stdout), "\x00") {
		words := strings.Split(line, "\x01")
		of := map[string]string{}
		for i, p := range placeholders[:min(len(placeholders), len(words)-1)] {
			of[p] = words[i+1]
		}
		fields[name.OID(words[0])] = of
	}
	return fields, nil
}

// ShownFiles returns the two trees that `show --stat` and `show -p` compare: the checkpoint's, and
// the one that the record's list of files is relative to.
func ShownFiles(ctx context.Context, s *store.Store, d *checkpoint.Detail) (*Difference, error) {
	if d.Record.Snapshot.Tree == "" {
		s.Warn(checkpoint.MentionOf(d.Record).String() + " was imported without files, so there is nothing to compare")
		return &Difference{}, nil
	}
	before, err := treeBefore(ctx, s, d.Record)
	return &Difference{FromTree: before, ToTree: d.Record.Snapshot.Tree}, err
}

// treeBefore returns the tree of the checkpoint before, and for the end of a turn that from before its tools worked. If git
// does not have that any more it returns the tree of HEAD at that time, and "" if there was no commit.
func treeBefore(ctx context.Context, s *store.Store, rec *record.Record) (name.OID, error) {
	st, err := checkpoint.State(ctx, s, rec.Session)
	if err != nil {
		return "", err
	}
	before := rec.Previous
	for e := st.Entry(before); rec.Trigger == journal.TriggerTurn && e != nil && e.BesideSteps(); e = st.Entry(before) {
		before = e.Event().Previous
	}
	if before != "" && !rec.IsOnHead() {
		// The checkpoint before may be pruned or damaged.
		if e := st.Entry(before); e != nil && !e.Dead {
			if was, err := checkpoint.ReadRecord(ctx, s, e); err == nil && was.Snapshot.Tree != "" {
				return was.Snapshot.Tree, nil
			}
		}
		// A predecessor that was pruned on purpose is no reason for a warning.
		if !st.Dead(before) {
			s.Warn(fmt.Sprintf("the checkpoint before it, %s, cannot be read; compared with HEAD at that time instead", before))
		}
	}
	if rec.Git.Head == "" {
		return "", nil
	}
	commit, err := s.Repo.Commits.Read(ctx, string(rec.Git.Head))
	return commit.Tree, err
}

// measurable is the largest number of changed files whose lines are counted for an Amount.
const measurable = 1000

// Measure counts the lines that a checkpoint changed since the tree before, and for the first one of a session
// its files. It is for people only, so with an error it returns nil.
func Measure(ctx context.Context, s *checkpoint.Service, first bool, changed int, before, tree name.OID) *checkpoint.Amount {
	if tree == "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // the checkpoint may be of a step that somebody interrupted
	var a checkpoint.Amount
	if first {
		listed, err := s.Repo.Run(ctx, git.Cmd{Args: []string{"ls-tree", "-r", "-z", "--name-only", string(tree)}})
		if err != nil {
			return nil
		}
		a.All = strings.Count(string(listed.Stdout), "\x00")
	}
	if before != "" && changed > 0 && changed <= measurable {
		counts, err := CountsBetween(ctx, s, before, tree)
		if err != nil {
			return nil
		}
		for _, f := range counts {
			a.Added, a.Deleted = a.Added+f.Added, a.Deleted+f.Deleted
		}
	}
	return &a
}

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

// Since is what a checkpoint changed.
type Since struct {
	State []StateChange // against the checkpoint before it, where that can be read
	Known bool          // it can be read
	Lines map[string]FileCount
}

// ChangesOf compares a checkpoint with the one before it, or the files of the first one with HEAD. What cannot be
// read is left out.
func ChangesOf(ctx context.Context, s *checkpoint.Service, d *checkpoint.Detail) *Since {
	since := &Since{}
	if rec := d.Record; rec.Previous != "" {
		found, err := s.Sessions.Resolve(ctx, string(rec.Session), string(rec.Previous))
		if err != nil {
			return since
		}
		was, err := checkpoint.ReadRecord(ctx, s.Store, found.Entry)
		if err != nil {
			return since
		}
		since.State, since.Known = stateChanges(ctx, s.Rules, found.State, was, rec), true
	}
	after, n := d.Record.Snapshot.Tree, d.Record.Files.Total()
	if after == "" || n == 0 || n > measurable {
		return since
	}
	before, err := treeBefore(ctx, s.Store, d.Record)
	if err != nil || before == "" {
		return since
	}
	counts, err := CountsBetween(ctx, s, before, after)
	if err != nil {
		return since
	}
	since.Lines = map[string]FileCount{}
	for _, f := range counts {
		since.Lines[f.Path] = f
	}
	return since
}
