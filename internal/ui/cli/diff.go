package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/attempt"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/why"
)

// DiffCmd is "git checkpoint diff". Its answer covers state, outputs, files and commits. With
// --stat, --name-status or --patch the answer is git's own diff of the files instead.
type DiffCmd struct {
	From  string   `arg:"" optional:"" name:"a" complete:"range or file" help:"Checkpoint to compare from, or a commit; default: the current checkpoint."`
	To    string   `arg:"" optional:"" name:"b" complete:"ref" help:"Checkpoint to compare with; default: the worktree as it is now."`
	Paths []string `arg:"" optional:"" name:"path" dashed:"" whole:"" complete:"file" help:"Compare only these files."`
	whereFlag
	sessionFlag
	ExitCode   bool `help:"Exit with code 2 if there are differences."`
	Stat       bool `brief:"" xor:"form" apart:"json" help:"Print only git's statistics of the files."`
	NameStatus bool `brief:"" xor:"form" apart:"json" help:"Print only git's list of changed files."`
	Patch      bool `brief:"" xor:"form" apart:"json" short:"p" help:"Print only git's diff of the files. Other options of git diff do so, too: --word-diff, -w, -S..."`
	gitFlags
	filesFlag
	jsonFlag
}

// gitFlags are options that are passed to git diff.
type gitFlags struct {
	Git []string `name:"git-option" hidden:"" apart:"json" sep:"none" help:"Option of git diff, which makes the answer git's."`
}

// Run prints the differences. With --exit-code it ends with code 2 if there are any.
func (c *DiffCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) (err error) {
	if err := c.sides(ctx, app, s.Sessions); err != nil {
		return err
	}
	found, err := inspect.Diff(ctx, s, inspect.DiffRequest{Session: c.Session, A: c.From, B: c.To, Paths: c.Paths})
	if checkpoint.KindOf(err) == checkpoint.KindNotFound && c.attempts(ctx, s.Store) {
		found, err = inspect.Diff(ctx, s, inspect.DiffRequest{Session: c.Session, A: c.From, B: c.To, Paths: c.Paths})
	}
	if err != nil && c.To == "" && len(c.Paths) == 0 && c.toGit(app) == nil {
		return app.behindUnless(ctx, s.Rules, c.From, c.meant(ctx, s.Sessions, err))
	}
	if err != nil {
		return c.meant(ctx, s.Sessions, err)
	}
	err = app.page(ctx, s.Repo, func(w io.Writer) error {
		// The form of the answer is git's: run git diff, and pass its error on.
		if flags := c.toGit(app); flags != nil {
			return ended(inspect.PrintDiff(ctx, s, found, found.Paths, flags, app.git(w)))
		}
		compared := answer.Compared{Difference: found, Files: c.names()}
		return app.giveTo(w, compared)
	})
	if err == nil && c.ExitCode && found.Differs() {
		return differs
	}
	return err
}

// attempts replaces the names of attempts by their current checkpoints, and reports whether there were any.
func (c *DiffCmd) attempts(ctx context.Context, s *store.Store) (any bool) {
	if a, b, is := strings.Cut(c.From, ".."); is && c.To == "" {
		c.From, c.To = a, b
	}
	for _, side := range []*string{&c.From, &c.To} {
		if a, err := attempt.Find(ctx, s, *side); *side != "" && err == nil && a.Current != nil {
			*side, any = string(a.Session)+":"+string(a.Current.ID), true
		}
	}
	return any
}

// meant adds to an error what was meant, if the last argument is not a checkpoint but a file, or if one is a commit.
func (c *DiffCmd) meant(ctx context.Context, s *checkpoint.Sessions, err error) error {
	line, commits := "git diff", 0
	for _, ref := range []string{c.From, c.To} {
		_, unknown := s.Resolve(ctx, c.Session, ref)
		if _, is := why.ResolveCommit(ctx, s.Repo, ref); is && unknown != nil {
			line, commits = line+" "+name.Quoted(ref), commits+1
		} else {
			line += " $(git checkpoint show " + name.Quoted(ref) + " --get commit)"
		}
	}
	if c.To != "" && commits > 0 {
		return checkpoint.WithHints(err, func([]string) []string { return []string{line} })
	}
	if c.To != "" {
		return s.MeantFile(ctx, c.Session, c.To, "diff "+strings.ReplaceAll(name.Quoted(c.From), "%", "%%")+" -- %s", err)
	}
	return s.MeantFile(ctx, c.Session, c.From, "diff -- %s", err)
}

// sides fills in the two sides to compare. If --where or --pick selects the first checkpoint, then
// the one that was typed is the second. Without any argument the first is the current checkpoint.
func (c *DiffCmd) sides(ctx context.Context, app *App, s *checkpoint.Sessions) (err error) {
	if !c.given() {
		c.From = cmp.Or(c.From, "@")
		return nil
	}
	if c.To != "" {
		return c.refuse("two checkpoints")
	}
	c.To = c.From
	c.From, err = c.choose(ctx, app, s, c.Session, "")
	return err
}

// toGit returns the flags for git diff, or nil if the answer is ours.
func (c *DiffCmd) toGit(app *App) []string {
	switch {
	case c.Stat && !c.Files && app.Terminal.OutTerminal:
		// On a terminal the list is cut as in our own answer, unless --files asks for all.
		return append(c.Git, fmt.Sprintf("--stat-count=%d", answer.FilesListed))
	case c.Stat:
		return append(c.Git, "--stat")
	case c.NameStatus:
		return append(c.Git, "--name-status")
	case c.Patch:
		return append(c.Git, "--patch")
	}
	return c.Git
}

// ended turns the exit code of a git command into our own. git has already printed its error.
func ended(code int, err error) error {
	if err == nil && code != 0 {
		return exitCode(code)
	}
	return err
}
