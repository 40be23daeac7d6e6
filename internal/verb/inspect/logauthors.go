package inspect

// This file says who made each change that a log of some paths shows.

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// logAuthors has the paths that each checkpoint changed, of those that a log is limited to.
type logAuthors struct {
	s       *store.Store
	changed map[string][]record.Path // by commit
}

// authorsOf returns the authors for the paths among the arguments of git log; nil: there are none. input and
// env are those of the log.
func authorsOf(ctx context.Context, s *store.Store, args []string, input string, env []string) *logAuthors {
	dir := filepath.Join(s.Repo.WorkTree, filepath.FromSlash(s.Repo.Prefix))
	paths := pathsAmong(args, dir)
	if len(paths) == 0 {
		return nil
	}
	asked := git.Cmd{
		Args: slices.Concat([]string{"log", "--stdin", "--no-renames", "--no-relative", "-z", "--name-only", "--format=%x00%H", "--"}, paths),
		Dir:  dir, Env: env, Stdin: strings.NewReader(input),
	}
	out, err := s.Repo.Run(ctx, asked)
	if err != nil {
		return nil // git says it again in the log itself
	}
	a := &logAuthors{s: s, changed: map[string][]record.Path{}}
	// An empty word stands before each commit, and a newline before its first path.
	words := strings.Split(string(out.Stdout), "\x00")
	commit := ""
	for i := 1; i < len(words); i++ {
		switch {
		case words[i] == "":
		case words[i-1] == "":
			commit = words[i]
		case words[i-1] == commit:
			a.changed[commit] = append(a.changed[commit], record.Path(strings.TrimPrefix(words[i], "\n")))
		default:
			a.changed[commit] = append(a.changed[commit], record.Path(words[i]))
		}
	}
	return a
}

// pathsAmong returns the paths at the end of git log's arguments: those after --, or the last ones that name
// something in the directory.
func pathsAmong(args []string, dir string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[i+1:]
	}
	from := len(args)
	for from > 0 && !strings.HasPrefix(args[from-1], "-") {
		if _, err := os.Lstat(filepath.Join(dir, args[from-1])); err != nil {
			break
		}
		from--
	}
	return args[from:]
}

// authorOf says who made what a checkpoint changed, as blame does: the agent, "during" it, outside, or
// another session. It returns "" if that is not known.
func (a *logAuthors) authorOf(ctx context.Context, st *journal.State, e *journal.Entry) string {
	if a == nil {
		return ""
	}
	paths := a.changed[string(e.Event().Commit)]
	if len(paths) == 0 {
		return ""
	}
	step, err := author.StepOf(ctx, a.s, st, e)
	if err != nil {
		return "" // the list says that it is damaged
	}
	var all []string
	for _, path := range paths {
		who := step.Who(path)
		said := who.Other()
		switch who.By {
		case author.Agent:
			said = who.Agent
		case author.During:
			said = "during " + who.Agent
		}
		if said != string(author.Unknown) && !slices.Contains(all, said) {
			all = append(all, said)
		}
	}
	return strings.Join(all, ", ")
}
