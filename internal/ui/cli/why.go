package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/why"
)

// WhyCmd is "git checkpoint why": from a line or a commit back to the steps behind it.
type WhyCmd struct {
	What   string   `arg:"" name:"path:line|commit" complete:"file" help:"File with a line or a range such as api.go:40,60; or a commit."`
	Lines  []string `short:"L" sep:"none" placeholder:"<range>" help:"Lines as for git blame -L, such as :function; can be repeated."`
	Spaces bool     `name:"ignore-space" short:"w" help:"Ignore changes of white space."`
	Moves  bool     `name:"moves" short:"M" help:"Follow lines that were moved within the file."`
	Copies int      `name:"copies" short:"C" type:"counter" help:"Follow lines that were copied from other files; repeat it to search further, as for git blame."`
	jsonFlag
}

var lineOf = regexp.MustCompile(`(?s)^(.+):(\d+(?:,\+?\d+)?)$`)

// Run prints what is behind the lines or the commit.
func (c *WhyCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	progress := app.Terminal.Progress("Reading checkpoints")
	defer progress.Finish()
	req := why.Request{File: c.What, Lines: c.Lines, Loose: c.Spaces, Progress: func(n int) { progress.Add(int64(n)) }}
	if m := lineOf.FindStringSubmatch(c.What); m != nil && len(c.Lines) == 0 {
		if req.File, req.Lines = m[1], []string{m[2]}; !strings.Contains(m[2], ",") {
			req.Lines[0] += "," + m[2] // for git one number means all lines from there
		}
	} else if oid, is := why.ResolveCommit(ctx, s, c.What); is && len(c.Lines) == 0 {
		return app.behind(ctx, s, oid)
	} else if len(c.Lines) == 0 {
		if _, err := os.Lstat(filepath.Join(app.dir, c.What)); err != nil {
			return checkpoint.Failure(checkpoint.KindNotFound, "for a line of a file, write git checkpoint why FILE:LINE", "no such commit or file: %q", name.Clip(c.What, name.Said))
		}
	}
	for _, flag := range []struct {
		option string
		times  int
	}{{"-w", count(c.Spaces)}, {"-M", count(c.Moves)}, {"-C", c.Copies}} {
		for range flag.times {
			req.Options = append(req.Options, flag.option)
		}
	}
	lines, err := why.Lines(ctx, s, req)
	if err != nil {
		return err
	}
	return app.page(ctx, s, func(w io.Writer) error { return app.giveTo(w, answer.Reasons(lines)) })
}

// count returns how often a flag was given that can be given once.
func count(given bool) int {
	if given {
		return 1
	}
	return 0
}

// behind prints the steps behind a commit.
func (a *App) behind(ctx context.Context, s *checkpoint.Service, commit name.OID) error {
	progress := a.Terminal.Progress("Reading checkpoints")
	defer progress.Finish()
	found, err := why.Commits(ctx, s, []name.OID{commit}, func(n int) { progress.Add(int64(n)) })
	if err != nil {
		return err
	}
	return a.give(answer.Behind{Commit: found[0]})
}

// behindUnless handles the error of a command that was given a name that is not a checkpoint: if it
// is a commit, it prints the steps behind that.
func (a *App) behindUnless(ctx context.Context, s *checkpoint.Service, typed string, err error) error {
	if checkpoint.KindOf(err) == checkpoint.KindNotFound {
		if oid, is := why.ResolveCommit(ctx, s, typed); is {
			return a.behind(ctx, s, oid)
		}
	}
	return err
}
