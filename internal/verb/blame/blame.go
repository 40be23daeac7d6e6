package blame

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/why"
)

// Request holds the options of `blame`.
type Request struct {
	Session  string
	Ref      string    // empty: the file as it is in the worktree
	File     string    // as typed, relative to the current directory
	Options  []string  // options for git blame
	Ignore   []string  // checkpoints or commits to ignore
	Progress func(int) // called with a number of checkpoints that were read for the index of lines; it may be nil
}

// follows reports whether what git blame says of a line counts.
func (r Request) follows() bool {
	return len(r.Ignore) > 0 || slices.Contains(r.Options, "-M") || slices.Contains(r.Options, "-C")
}

// Line is a line of the file with its origin.
type Line struct {
	Line    int     `json:"line"`
	Content string  `json:"content"`
	ID      name.ID `json:"id"`    // the checkpoint; empty if the line is older than the session
	Label   string  `json:"label"` // likewise
	Step    int     `json:"step"`  // likewise, 0 then
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

	Ref string `json:"-"` // what people type for the step; empty if the line is older than the session

	saved bool // a checkpoint brought it, and no commit
}

// Blame returns for each line of a file which checkpoint wrote it.
func Blame(ctx context.Context, s *checkpoint.Service, req Request) ([]Line, error) {
	if req.Ref == "" {
		// Only a walk over the checkpoints follows a line from one to the other where git's answer counts.
		if path, err := why.Path(s.Repo, req.File); err != nil || isFile(s.Repo, path) && !(req.follows() && saved(ctx, s.Sessions, req.File)) {
			return ofWorktree(ctx, s.Sessions, req)
		}
		req.Ref = "@"
	}
	var out bytes.Buffer
	found, links, err := walk(ctx, s, req, inspect.IO{Out: &out})
	if err != nil {
		return nil, err
	}
	made := make(map[name.OID]*link, len(links))
	for i := range links {
		made[links[i].Commit] = &links[i]
	}
	places := why.ParseBlame(out.String())
	lines := linesOf(places, made)
	return lines, tell(ctx, s.Rules, found, req, places, lines)
}

// isFile reports whether a regular file is at a path.
func isFile(repo *git.Repo, path string) bool {
	info, err := os.Lstat(filepath.Join(repo.WorkTree, filepath.FromSlash(path)))
	return err == nil && info.Mode().IsRegular()
}

// saved reports whether the current checkpoint has a file as it is in the worktree.
func saved(ctx context.Context, s *checkpoint.Sessions, file string) bool {
	path, err := s.Repo.RelativePath(file)
	found, none := s.Resolve(ctx, "", "@")
	if err != nil || none != nil {
		return false
	}
	tree, err := s.Repo.Commits.TreeOf(ctx, found.Entry.Event().Commit)
	if err != nil {
		return true // it is damaged, which the walk says
	}
	e, _, err := s.Repo.Trees.Lookup(ctx, tree, path)
	is, unread := s.Repo.Output(ctx, "hash-object", "--", path)
	return err != nil || unread == nil && string(e.OID) == is
}

// ofWorktree answers of the file in the worktree, as why does. A line that is in no commit has that of its checkpoint.
func ofWorktree(ctx context.Context, s *checkpoint.Sessions, req Request) ([]Line, error) {
	said, err := why.Lines(ctx, s.Rules, why.Request{File: req.File, Options: req.Options, Loose: slices.Contains(req.Options, "-w"), Git: req.follows(), Progress: req.Progress})
	if checkpoint.KindOf(err) == checkpoint.KindNotFound && slices.Contains(req.Options, "-L") {
		return nil, checkpoint.Usage("", "%s", checkpoint.MessageOf(err)) // as for a checkpoint's file
	}
	if err != nil {
		return nil, err
	}
	here, err := s.Resolve(ctx, "", "@")
	if err != nil {
		here = &checkpoint.Found{} // on a branch without steps each is named with its session
	}
	lines := make([]Line, len(said))
	for i, w := range said {
		c := w.Claim()
		l := Line{Line: w.Line, Content: w.Text, Commit: w.Commit, Message: w.Subject, Author: w.Blamed.Author, Time: w.Time, Because: c.Because}
		if len(w.Claims) > 1 {
			l.By = author.Unknown
		}
		l.set(c, here.Session)
		lines[i] = l
	}
	return lines, nil
}

// set fills in the checkpoint of a claim, if there is one, for somebody in this session.
func (l *Line) set(c why.Claim, here name.Session) {
	if c.Entry == nil {
		return
	}
	l.ID, l.Label, l.Step, l.Time, l.Ref = c.Checkpoint, c.Entry.Label, c.Step, c.Since, strings.TrimPrefix(c.Ref, string(here)+":")
	l.Session, l.By, l.Agent, l.Commit = c.Session, c.By, c.Agent, c.Entry.Event().Commit
	l.Message, _, _ = strings.Cut(c.Message, "\n")
}

// tell sets who made each line, as why knows it.
func tell(ctx context.Context, s *checkpoint.Rules, found *checkpoint.Found, req Request, places []why.Place, lines []Line) error {
	path, _ := why.Path(s.Repo, req.File) //nolint:errcheck // walk has refused what is outside
	tree, err := s.Repo.Commits.TreeOf(ctx, found.Entry.Event().Commit)
	if err != nil {
		return err
	}
	claims, err := why.ExplainLines(ctx, s, found, tree, path, places, why.Request{
		Loose: slices.Contains(req.Options, "-w"), Git: req.follows(), Progress: req.Progress,
	})
	if err != nil {
		return err
	}
	for i, c := range claims {
		l := &lines[i]
		l.Because = c.Because
		switch {
		case c.Entry != nil:
			l.set(c, found.Session)
		case l.saved: // the session has it, but which of its steps made it cannot be told
			l.Session, l.By = found.Session, author.Unknown
		}
	}
	return nil
}

// Porcelain lets git print its own porcelain format. The commits in it are those of the
// chain.
func Porcelain(ctx context.Context, s *checkpoint.Service, req Request, to inspect.IO) error {
	_, _, err := walk(ctx, s, req, to)
	return err
}

// walk runs git blame over the chain of commits and returns the checkpoint and its chain.
func walk(ctx context.Context, s *checkpoint.Service, req Request, to inspect.IO) (*checkpoint.Found, []link, error) {
	found, err := s.Sessions.Resolve(ctx, req.Session, req.Ref)
	if err != nil {
		return nil, nil, err
	}
	p, err := why.Path(s.Repo, req.File)
	if err != nil {
		return nil, nil, err
	}
	// Writing the chain needs a place for objects, even where the repository is read-only.
	links, err := checkpoint.RetryBorrowed(s, func() ([]link, error) { return chain(ctx, s.Store, found) })
	if err != nil {
		return nil, nil, err
	}
	tip := links[len(links)-1]
	args := append([]string{"--no-pager", "blame", "--porcelain"}, req.Options...)
	for _, ref := range req.Ignore {
		oid, err := ignored(ctx, s.Sessions, found, links, ref)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, "--ignore-rev="+string(oid))
	}
	why.CompletePath(ctx, s.Store, string(tip.Commit), p)
	var said bytes.Buffer
	_, err = s.Repo.Run(ctx, git.Cmd{Args: append(args, string(tip.Commit), "--", p), Stdout: to.Out, Stderr: &said})
	switch {
	case git.ExitCode(err) > 0 && strings.Contains(said.String(), "no such path"):
		return nil, nil, checkpoint.Failure(checkpoint.KindNotFound, "", "%s has no file %q", checkpoint.Said(ctx, s.Store, found.State, found.Entry), name.Clip(p, name.Said))
	case git.ExitCode(err) > 0: // git's own message is about the options that the user typed, so show it as it is
		return nil, nil, why.Refused(s.Repo, git.FirstLine(said.String()))
	}
	return found, links, err
}

// ignored returns the commit to ignore: that of the chain for a checkpoint, else a commit.
func ignored(ctx context.Context, s *checkpoint.Sessions, found *checkpoint.Found, links []link, ref string) (name.OID, error) {
	f, err := s.Resolve(ctx, string(found.Session), ref)
	if err == nil {
		for _, l := range links {
			if l.entry.Checkpoint == f.Entry.Checkpoint {
				return l.Commit, nil
			}
		}
	}
	// It is not a checkpoint of the chain, so take it for a commit of the user's history.
	if oid, is := why.ResolveCommit(ctx, s.Repo, ref); is {
		return oid, nil
	}
	return "", checkpoint.Usage("--ignore-rev takes a checkpoint before this one, or a commit", "no such checkpoint or commit: %q", name.Clip(ref, name.Said))
}

// linesOf returns lines as git blame places them. A place in a commit of the chain gets the checkpoint for which it was made.
func linesOf(places []why.Place, made map[name.OID]*link) []Line {
	lines := make([]Line, len(places))
	for i, at := range places {
		l := Line{Line: at.Line, Content: at.Text, Commit: at.Commit, Message: at.Subject, Author: at.Author, Time: at.Time}
		if of := made[at.Commit]; of != nil {
			l.saved, l.Commit, l.Message, l.Time = true, "", "", checkpoint.Time{Time: of.entry.Event().Time}
			places[i].Checkpoint, places[i].Commit = of.entry.Checkpoint, ""
		}
		lines[i] = l
	}
	return lines
}
