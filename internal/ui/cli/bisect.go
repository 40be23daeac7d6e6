package cli

import (
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/bisect"
	"git-checkpoint/internal/verb/run"
)

// BisectCmd is "git checkpoint bisect": it finds the first checkpoint at which a command fails or
// an expression is false. The command runs in a worktree of its own; package bisect does the
// search.
type BisectCmd struct {
	Command []string `arg:"" optional:"" dashed:"git checkpoint bisect --good GOOD --bad BAD -- COMMAND" complete:"none" help:"Command that succeeds at a good checkpoint, after --."`
	sessionFlag
	Good  string `placeholder:"<ref>" complete:"ref" help:"A checkpoint known to be good; without it the oldest one is tested, too."`
	Bad   string `placeholder:"<ref>" complete:"ref" help:"A checkpoint known to be bad; without it the current one is tested first."`
	Where string `placeholder:"<expression>" help:"Find the step at which this expression over the record became false, without running a command."`
	First bool   `help:"Test from the oldest to the first bad one, for something that broke more than once."`
	All   bool   `help:"Test checkpoints that are not milestones, too."`
	resultFlags
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
		First: c.First, All: c.All, IO: app.sideStreams(),
	}
	if !app.json && !app.quiet {
		r.Tell = func(line string) {
			_ = app.view.Line(app.Terminal.Err, render.Span{Role: render.Dim, Text: line}) // if stderr cannot be written, nobody can be told
		}
	}
	switch {
	case c.Where != "" && len(c.Command) > 0:
		return r, usage.Error("--where and a command cannot be used together")
	case c.Where == "" && len(c.Command) == 0:
		return r, usage.Error("nothing says what is good: give a command, or --where", "git checkpoint bisect -- make test", "git checkpoint bisect --where state.metrics.build_pass")
	case len(c.Command) > 0:
		return r, cannotRun(app, run.Find(c.Command[0]))
	}
	return r, nil
}
