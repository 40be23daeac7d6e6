package cli

import (
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/land"
)

// LandCmd is "git checkpoint land": it makes ordinary commits of checkpoints.
type LandCmd struct {
	Range string `arg:"" optional:"" name:"from..to" complete:"ref" help:"Steps to land, both ends included, or only the last step; default: all up to the current one."`
	sessionFlag
	Each    bool   `help:"Make one commit for each milestone instead of one for all."`
	Message string `short:"m" placeholder:"<text>" help:"Message of the commit; default: the checkpoint's."`
	Branch  string `placeholder:"<branch>" help:"Create this branch for the commits, and leave the current branch and the index alone."`
	confirmFlags
	resultFlags
}

// Run prints the plan, asks, and makes the commits.
func (c *LandCmd) Run(ctx context.Context, app *App) error {
	request := land.Request{Session: c.Session, Range: c.Range, Each: c.Each, Message: c.Message, Branch: c.Branch, Unscanned: unscanned(c.Yes)}
	if c.Each && c.Message != "" {
		return usage.Error("--message is for one commit, and --each makes several")
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		plan, err := land.Prepare(ctx, s, request)
		if err != nil {
			return err
		}
		if agreed, err := app.agreed(ctx, answer.ToLand{Plan: plan.Answer}, c.confirmFlags); !agreed {
			return err
		}
		done, err := plan.Apply(ctx)
		return app.confirmUnless(err, answer.Landed{Done: done})
	})
}
