package inspect

// This file lets git print the log of a session: git gets each checkpoint with the one before it as its parent.
// With paths, it also says who made each change.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// logMark begins a line of git's output that is to show a checkpoint's number and message.
const logMark = "\x01"

// grafted returns the parents that git is to give the checkpoints of a session, a line each, "" if there are none, and where
// their log begins: at each of the line here, unless the arguments name some.
func grafted(ctx context.Context, repo *git.Repo, st *journal.State, named bool) (parents, from string) {
	var grafts, tips strings.Builder
	here, several := st.OnLine(st.Entry(st.Place)), st.Place != "" && len(st.Heads()) > 1
	beside := func(e *journal.Entry) bool { // what was left behind is of the line that it began on
		live := firstBefore(st, e, func(e *journal.Entry) bool { return !e.Live })
		return live != nil && !here[live.Place]
	}
	for i, c := range st.Backward() {
		if c.Dead || c.Safety {
			continue
		}
		e := st.At(i)
		parent, outside := parentOf(ctx, repo, st, e)
		grafts.WriteString(strings.TrimSpace(string(e.Event().Commit)+" "+string(parent)) + "\n")
		if !named && !(several && beside(e)) { // otherwise the arguments say where to begin
			tips.WriteString(string(e.Event().Commit) + "\n")
		}
		if outside && parent != "" { // a commit of the branch is not a checkpoint
			tips.WriteString("^" + string(parent) + "\n")
		}
	}
	return grafts.String(), tips.String()
}

// PrintLog lets git print the log of a session's checkpoints, newest first: a line each, unless the arguments ask
// for another format. It returns git's exit code.
func PrintLog(ctx context.Context, s *checkpoint.Sessions, session string, args []string, to IO) (int, error) {
	st, args, named, err := logged(ctx, s, session, args)
	if err != nil {
		return 1, err
	}
	grafts, tips := grafted(ctx, s.Repo, st, named)
	if grafts == "" {
		return 1, checkpoint.NoCheckpointError(st)
	}
	if at := st.Entry(st.Place); !named && at != nil {
		for _, other := range checkpoint.HeadsBeside(ctx, s.Store, st, at) {
			s.Store.Warn(fmt.Sprintf("another line has %s: git checkpoint log %s", other.Description(), other.Number))
		}
	}
	// A graft gives commits other parents for one run of git, without any ref or object.
	file, err := os.CreateTemp("", "git-checkpoint-log-")
	if err != nil {
		return 1, err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // a few lines in a temporary directory
	_, err = file.WriteString(grafts)
	if err = errors.Join(err, file.Close()); err != nil {
		return 1, err
	}
	line := []string{"-c", "advice.graftFileDeprecated=false", "-c", "log.decorate=false", "--no-pager", "log", "--stdin", "--date-order", "--no-notes"}
	if to.Color != "" {
		line = append(line, "--color="+to.Color)
	}
	env := []string{"GIT_GRAFT_FILE=" + file.Name()}
	if !slices.ContainsFunc(args, asksFormat) {
		subjects, err := logLines(ctx, s.Store, st, to.Color)
		if err != nil {
			return 1, err
		}
		subjects.authors = authorsOf(ctx, s.Store, args, tips, env)
		format := "--format=" + logMark + "%H"
		if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--notes") }) {
			format += "%n%N"
		}
		line = append(line, format)
		out := &logWriter{to: to.Out, subject: func(commit string) string { return subjects.subjectOf(ctx, st, commit) }}
		defer out.flush()
		to.Out = out
	}
	for _, arg := range args {
		if arg == "--notes" { // those of checkpoints are not among git's default ones
			arg += "=checkpoints"
		}
		line = append(line, arg)
	}
	var said bytes.Buffer
	told := to.Err
	to.In, to.Env, to.Err = strings.NewReader(tips), env, &said
	code, err := pass(ctx, s.Repo, line, to)
	text := git.FirstLine(said.String())
	if _, rest, unknown := strings.Cut(text, "ambiguous argument '"); code == 128 && unknown {
		word, _, _ := strings.Cut(rest, "'")
		return 1, checkpoint.UnknownCheckpointError(st.Session, st, word)
	}
	if code == 128 {
		return 1, checkpoint.Usage("options and paths are those of git log; git checkpoint list --json is for programs", "%s", text)
	}
	_, _ = said.WriteTo(told) // if stderr cannot be written, nobody can be told
	return code, err
}

// valued are options of git log that take the next word.
var valued = []string{"-n", "-S", "-G", "-L", "-O", "-I", "--max-count", "--skip", "--since", "--after", "--until", "--before", "--author", "--committer", "--grep", "--diff-filter", "--date", "--format"}

// logged returns the arguments of a log with the commits of the checkpoints that they name, as 3, 2..4 or feature:3,
// and the session that these are of; named: there are some. A word that is a file and no number stays one.
func logged(ctx context.Context, s *checkpoint.Sessions, session string, args []string) (st *journal.State, out []string, named bool, err error) {
	find := func(ref string) (commit string) {
		ref = cmp.Or(ref, "@")
		found, err := s.Reach(ctx, session, ref)
		if err != nil || named && found.State.Session != st.Session {
			return ""
		}
		if _, number := strconv.Atoi(ref); number != nil {
			if _, missing := os.Lstat(filepath.Join(s.Repo.WorkTree, s.Repo.Prefix, ref)); missing == nil {
				return ""
			}
		}
		st, named = found.State, true
		return string(found.Entry.Event().Commit)
	}
	for i, arg := range args {
		if arg == "--" {
			out = append(out, args[i:]...)
			break
		}
		words := []string{arg}
		if !strings.HasPrefix(arg, "-") && (i == 0 || !slices.Contains(valued, args[i-1])) {
			if from, to, is := strings.Cut(arg, ".."); !is {
				words[0] = cmp.Or(find(arg), arg)
			} else if a, b := find(from), find(to); a != "" && b != "" {
				words = []string{"^" + a, b}
			}
		}
		out = append(out, words...)
	}
	if !named {
		st, err = checkpoint.ChosenState(ctx, s, session)
	}
	return st, out, named, err
}

// asksFormat reports whether an argument of git log asks for a format other than one line each.
func asksFormat(arg string) bool {
	return arg == "--oneline" || arg == "-z" || strings.HasPrefix(arg, "--format") || strings.HasPrefix(arg, "--pretty")
}

// parentOf returns the checkpoint that another one is compared with: the one before it that is
// still there. For the first one it is the commit that it was made on, which is outside the
// session, or "" if there was none.
func parentOf(ctx context.Context, repo *git.Repo, st *journal.State, e *journal.Entry) (parent name.OID, outside bool) {
	if last := firstBefore(st, st.Entry(e.Event().Previous), func(e *journal.Entry) bool { return e.Dead }); last != nil {
		return last.Event().Commit, false
	}
	commit, err := repo.Commits.Read(ctx, string(e.Event().Commit))
	if err != nil {
		return "", true
	}
	return commit.MadeOn(), true
}

// firstBefore returns the first of a checkpoint and those before it that is not passed over, or nil.
func firstBefore(st *journal.State, e *journal.Entry, over func(*journal.Entry) bool) *journal.Entry {
	for seen := map[name.ID]bool{}; e != nil && over(e); e = st.Entry(e.Event().Previous) {
		if seen[e.Checkpoint] {
			return nil
		}
		seen[e.Checkpoint] = true
	}
	return e
}

// subjects has what the lines of a log say, by commit.
type subjects struct {
	checkpoints map[string]subject
	style       render.Style
	authors     *logAuthors
}

type subject struct {
	entry *journal.Entry
	text  string
}

// subjectOf returns the line of a checkpoint; empty: it is not one of this session.
func (l *subjects) subjectOf(ctx context.Context, st *journal.State, commit string) string {
	found, known := l.checkpoints[commit]
	if !known {
		return ""
	}
	if who := l.authors.authorOf(ctx, st, found.entry); who != "" {
		return found.text + l.style.Paint(render.Dim, " · "+render.Escape(who))
	}
	return found.text
}

// logLines returns the lines of the checkpoints of a session.
func logLines(ctx context.Context, s *store.Store, st *journal.State, color string) (*subjects, error) {
	mentioned, err := mentions(ctx, s, st)
	if err != nil {
		return nil, err
	}
	style := render.Plain
	if color == "always" {
		style = render.Coloured
	}
	lines := &subjects{checkpoints: make(map[string]subject, len(mentioned)), style: style}
	for id, m := range mentioned {
		e := st.Entry(id)
		lines.checkpoints[string(e.Event().Commit)] = subject{e, strings.TrimSpace(style.Paint(render.ID, m.Name) + " " + render.Escape(m.Description()))}
	}
	return lines, nil
}

// logWriter replaces the marked ids of commits in git's output. A line is written when it is complete.
type logWriter struct {
	to      io.Writer
	subject func(commit string) string // empty: unknown
	rest    []byte                     // the beginning of a line
}

func (w *logWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	end := bytes.LastIndexByte(w.rest, '\n') + 1
	var out bytes.Buffer
	for line := range bytes.Lines(w.rest[:end]) {
		before, id, marked := bytes.Cut(line, []byte(logMark))
		subject := ""
		if marked {
			subject = w.subject(string(bytes.TrimSuffix(id, []byte("\n"))))
		}
		if subject == "" {
			out.Write(line)
			continue
		}
		fmt.Fprintf(&out, "%s%s\n", before, subject)
	}
	w.rest = append(w.rest[:0], w.rest[end:]...)
	if _, err := w.to.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush writes what git's output ends with, if that is not a whole line. An error has been reported
// by then.
func (w *logWriter) flush() { _, _ = w.to.Write(w.rest) }

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
