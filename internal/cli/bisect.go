package cli

import (
	"context"

	"git-checkpoint/internal/bisect"
	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/render"
	"git-checkpoint/internal/run"
)

// BisectCmd is "git checkpoint bisect": it finds the first checkpoint at which a command fails or
// an expression is false. The command runs in a worktree of its own; package bisect does the
// search.
type BisectCmd struct {
	Command []string `arg:"" optional:"" dashed:"the command goes after --" complete:"none" help:"Command that succeeds where it is good, after --."`
	sessionFlag
	Good  string `placeholder:"<ref>" complete:"ref" help:"A checkpoint that is good; otherwise the oldest is looked at too."`
	Bad   string `placeholder:"<ref>" complete:"ref" help:"A checkpoint that is bad; otherwise the current one is looked at first."`
	Where string `placeholder:"<expression>" help:"Look for the step where this expression over the record became false; no command is run."`
	First bool   `help:"Go from the oldest on to the first bad one, where it went back and forth."`
	All   bool   `help:"Look at checkpoints that are no milestones too."`
	jsonFlag
	quietFlag
}

// Help returns the long help text of "bisect", for -h and the man page.
func (*BisectCmd) Help() string {
	return `
The command runs over the checkpoints of the session in a scratch worktree, which is made once and moved from step to step: only what differs is written, and build caches stay. This worktree is not touched. Exit code 0 says good, 125 skips, 1 to 127 say bad, and any other stops, as for ` + "`git bisect run`" + `.

    git checkpoint bisect --good 2 --bad 9 -- make test
    git checkpoint bisect --where state.metrics.build_pass`
}

// Run searches and prints the step that it found.
func (c *BisectCmd) Run(ctx context.Context, app *App) error {
	request, err := c.request(app)
	if err != nil {
		return err
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		found, err := bisect.Do(ctx, s, request)
		return app.giveUnless(err, answer.Bisected{Found: found})
	})
}

// request turns the flags into a request. Whether the command exists is checked before the search.
// Progress goes to stderr.
func (c *BisectCmd) request(app *App) (bisect.Request, error) {
	r := bisect.Request{
		Session: c.Session, Good: c.Good, Bad: c.Bad, Where: c.Where, Command: c.Command,
		IO: app.aside(),
	}
	if !app.json && !app.quiet {
		r.Tell = func(line string) {
			_ = app.view.Line(app.Terminal.Err, render.Span{Role: render.Dim, Text: line}) // if stderr cannot be written, nobody can be told
		}
	}
	if c.First {
		r.Order = bisect.OrderFirst
	}
	if c.All {
		r.Which = bisect.WhichAll
	}
	switch {
	case c.Where != "" && len(c.Command) > 0:
		return r, usageError("--where and a command exclude each other")
	case c.Where == "" && len(c.Command) == 0:
		return r, usageError("what tells good from bad?", "git checkpoint bisect -- make test", "git checkpoint bisect --where state.metrics.build_pass")
	case len(c.Command) > 0:
		return r, cannotRun(app, run.Find(c.Command[0]))
	}
	return r, nil
}
