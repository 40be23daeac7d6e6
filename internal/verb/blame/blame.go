package blame

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/why"
)

// Request holds the options of `blame`.
type Request struct {
	Session string
	Ref     string
	// As typed, relative to the current directory.
	File    string
	Options []string // options for git blame
	// Checkpoints or commits to ignore.
	Ignore []string
	// Progress is called with a number of checkpoints that were read for the index of lines; it may be nil.
	Progress func(int)
}

// Line is a line of the file with its origin.
type Line struct {
	Line    int    `json:"line"`
	Content string `json:"content"`
	// The checkpoint; empty if the line is older than the session.
	ID    name.ID `json:"id"`
	Label string  `json:"label"` // likewise
	Step  int     `json:"step"`  // likewise, 0 then
	// Commit of the checkpoint, or else the commit that brought the line.
	Commit  name.OID        `json:"commit"`
	Message string          `json:"message"`
	Author  string          `json:"author"`
	Time    checkpoint.Time `json:"time"`
	// Session is that of the checkpoint, By how the line was made, and Agent who made it if By is agent
	// or during. All are empty if the line is older than the session.
	Session name.Session `json:"session"`
	By      author.By    `json:"by"`
	Agent   string       `json:"agent"`
	Because string       `json:"because"` // why nobody is named; empty: somebody is

	// Ref is what people type for the step of a line that came with a commit, or is another session's; empty for all
	// others.
	Ref string `json:"-"`

	link *link
	path string // of the file in that checkpoint or commit
	from int    // the line's number there
}

// Blame returns for each line of a file which checkpoint wrote it.
func Blame(ctx context.Context, s *checkpoint.Service, req Request) ([]Line, error) {
	var out bytes.Buffer
	found, links, err := walk(ctx, s, req, inspect.IO{Out: &out})
	if checkpoint.KindOf(err) == checkpoint.KindNotFound && req.Session == "" && req.Ref == "@" && len(req.Ignore) == 0 {
		if lines, err := withoutSession(ctx, s, req); err == nil {
			return lines, nil
		}
	}
	if err != nil {
		return nil, err
	}
	made := make(map[name.OID]*link, len(links))
	for i := range links {
		made[links[i].Commit] = &links[i]
	}
	lines := parse(out.String(), made)
	used := usedBy(lines)
	if slices.ContainsFunc(used, func(l *link) bool { return !l.sound(ctx, s) }) {
		if err := s.Forget(memoryOf(found.Session)); err != nil {
			return nil, err
		}
		return Blame(ctx, s, req)
	}
	return lines, tell(ctx, s, found, req, lines)
}

// withoutSession answers of the file in the worktree from all sessions, where none has a checkpoint to begin with.
func withoutSession(ctx context.Context, s *checkpoint.Service, req Request) ([]Line, error) {
	if _, err := s.Resolve(ctx, "", "@"); err == nil {
		return nil, checkpoint.Failure(checkpoint.KindNotFound, "", "the checkpoint lacks the file")
	}
	said, err := why.Lines(ctx, s, why.Request{File: req.File, Options: req.Options, Loose: slices.Contains(req.Options, "-w"), Progress: req.Progress})
	if err != nil {
		return nil, err
	}
	lines := make([]Line, len(said))
	for i, w := range said {
		c := w.Claim()
		lines[i] = Line{Line: w.Line, Content: w.Text, Commit: w.Commit, Message: w.Subject, Time: w.Time, Because: c.Because}
		lines[i].set(c)
	}
	return lines, nil
}

// set fills in the checkpoint of a claim, if there is one.
func (l *Line) set(c why.Claim) {
	if c.Entry == nil {
		return
	}
	l.ID, l.Label, l.Step, l.Time, l.Ref = c.Checkpoint, c.Entry.Label, c.Step, c.Since, c.Ref
	l.Session, l.By, l.Agent = c.Session, c.By, c.Agent
	l.Message, _, _ = strings.Cut(c.Message, "\n")
}

// tell sets who made each line, as why knows it.
func tell(ctx context.Context, s *checkpoint.Service, found *checkpoint.Found, req Request, lines []Line) error {
	path, err := s.Repo.Below(req.File)
	if err != nil {
		return err
	}
	tree, err := s.Repo.Commits.TreeOf(ctx, found.Entry.Event().Commit)
	if err != nil {
		return err
	}
	places := make([]why.Place, len(lines))
	for i, l := range lines {
		places[i] = why.Place{Checkpoint: l.ID, Path: l.path, From: l.from, Line: l.Line, Text: l.Content}
		if l.link == nil {
			places[i].Commit = l.Commit
		}
	}
	claims, err := why.In(ctx, s, found, tree, path, places, why.Request{
		Loose: slices.Contains(req.Options, "-w"), Git: len(req.Ignore) > 0 || slices.Contains(req.Options, "-M") || slices.Contains(req.Options, "-C"),
		Progress: req.Progress,
	})
	if err != nil {
		return err
	}
	for i, c := range claims {
		l := &lines[i]
		l.Because = c.Because
		switch {
		case c.Entry != nil:
			if l.set(c); l.link != nil {
				if l.Commit = c.Entry.Event().Commit; c.Session == found.Session {
					l.Ref = ""
				}
			}
		case l.link != nil: // the session has it, but which of its steps made it cannot be told
			l.ID, l.Label, l.Step, l.Commit, l.Message = "", "", 0, "", ""
			l.Session, l.By = found.Session, author.Unknown
		}
	}
	return nil
}

// usedBy returns the links that wrote lines, in the order of the journal.
func usedBy(lines []Line) (used []*link) {
	met := map[*link]bool{}
	for i := range lines {
		if l := lines[i].link; l != nil && !met[l] {
			met[l] = true
			used = append(used, l)
		}
	}
	slices.SortFunc(used, func(a, b *link) int { return a.entry.Place - b.entry.Place })
	return used
}

// Porcelain lets git print its own porcelain format. The commits in it are those of the
// chain.
func Porcelain(ctx context.Context, s *checkpoint.Service, req Request, to inspect.IO) error {
	_, _, err := walk(ctx, s, req, to)
	return err
}

// walk runs git blame over the chain of commits and returns the checkpoint and its chain.
func walk(ctx context.Context, s *checkpoint.Service, req Request, to inspect.IO) (*checkpoint.Found, []link, error) {
	found, err := s.Resolve(ctx, req.Session, req.Ref)
	if err != nil {
		return nil, nil, err
	}
	p, err := s.Repo.Below(req.File)
	if err != nil {
		return nil, nil, checkpoint.Usage("", "%v", err)
	}
	// Writing the chain needs a place for objects, even where the repository is read-only.
	links, err := checkpoint.RetryBorrowed(s, func() ([]link, error) { return chain(ctx, s, found) })
	if err != nil {
		return nil, nil, err
	}
	tip := links[len(links)-1]
	if err := holdsFile(ctx, s, found, tip.Commit, p); err != nil {
		return nil, nil, err
	}
	args := append([]string{"--no-pager", "blame", "--porcelain"}, req.Options...)
	for _, ref := range req.Ignore {
		oid, err := ignored(ctx, s, found, links, ref)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, "--ignore-rev="+string(oid))
	}
	why.CompletePath(ctx, s, string(tip.Commit), p)
	var said bytes.Buffer
	_, err = s.Repo.Run(ctx, git.Cmd{Args: append(args, string(tip.Commit), "--", p), Stdout: to.Out, Stderr: &said})
	// git's own message is about the options that the user typed, so show it as it is.
	if git.ExitCode(err) > 0 {
		return nil, nil, checkpoint.Usage(why.LostList(s), "%s", strings.TrimPrefix(strings.TrimSpace(said.String()), "fatal: "))
	}
	return found, links, err
}

// holdsFile returns an error unless the checkpoint has this file.
func holdsFile(ctx context.Context, s *checkpoint.Service, found *checkpoint.Found, tip name.OID, p string) error {
	c, err := s.Repo.Commits.Read(ctx, string(tip))
	if err != nil {
		return err
	}
	e, known, err := s.Repo.Trees.Lookup(ctx, c.Tree, p)
	if err != nil {
		return err
	}
	if !known || e.IsTree() {
		return checkpoint.Failure(checkpoint.KindNotFound, "", "%s has no file %q", s.Said(ctx, found.Entry), name.Clip(p, name.Said))
	}
	return nil
}

// ignored returns the commit to ignore: that of the chain for a checkpoint, else a commit.
func ignored(ctx context.Context, s *checkpoint.Service, found *checkpoint.Found, links []link, ref string) (name.OID, error) {
	f, err := s.Resolve(ctx, string(found.Session), ref)
	if err == nil {
		for _, l := range links {
			if l.ID == f.Entry.Checkpoint {
				return l.Commit, nil
			}
		}
	}
	// It is not a checkpoint of the chain, so take it for a commit of the user's history.
	commit, wrong := s.Repo.Output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if wrong != nil {
		return "", checkpoint.Usage("--ignore-rev takes a checkpoint before this one, or a commit", "no such checkpoint or commit: %q", name.Clip(ref, name.Said))
	}
	return name.OID(commit), nil
}

// parse reads the output of git blame --porcelain. Each line has a header with its commit.
// The data of a commit follow only the first time, and then comes the content after a tab.
func parse(text string, made map[name.OID]*link) []Line {
	lines := []Line{}
	commits := map[name.OID]*Line{} // data of each commit that was seen
	var of *Line
	line, from := 0, 0
	for row := range strings.Lines(text) {
		row = strings.TrimSuffix(row, "\n")
		if content, ends := strings.CutPrefix(row, "\t"); ends {
			l := *of
			l.Line, l.Content, l.from = line, content, from
			// For a commit of the chain, show the checkpoint for which it was made.
			if m := made[l.Commit]; m != nil {
				l.ID, l.Label, l.Step, l.Commit = m.ID, m.entry.Label, m.entry.Step, m.entry.Event().Commit
				l.Time = checkpoint.Time{Time: m.entry.Event().Time}
				l.link = m
			}
			lines = append(lines, l)
			continue
		}
		key, value, _ := strings.Cut(row, " ")
		switch key {
		case "author":
			of.Author = value
		case "author-time":
			at, _ := strconv.ParseInt(value, 10, 64) //nolint:errcheck // git writes a number
			of.Time = checkpoint.Time{Time: time.Unix(at, 0).UTC()}
		case "filename":
			of.path = why.Unquoted(value)
		case "summary":
			of.Message = value
		default:
			oid, err := name.ParseOID(key)
			if fields := strings.Fields(value); err == nil && len(fields) > 1 {
				from, _ = strconv.Atoi(fields[0]) //nolint:errcheck // git writes numbers
				line, _ = strconv.Atoi(fields[1]) //nolint:errcheck // likewise
				if of = commits[oid]; of == nil {
					of = &Line{Commit: oid}
					commits[oid] = of
				}
			}
		}
	}
	return lines
}
