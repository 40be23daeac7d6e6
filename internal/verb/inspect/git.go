package inspect

// This file runs git for output that goes directly to the user: what it compares, and the counts of
// lines that it gives.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
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
