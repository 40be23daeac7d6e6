package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/clearance"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/land"
)

// LandCmd is "git checkpoint land": it makes ordinary commits of checkpoints.
type LandCmd struct {
	Range string `arg:"" optional:"" name:"from..to" complete:"ref" help:"Steps to land, both ends included, or only the last step; default: all up to the current one."`
	sessionFlag
	Each    bool   `help:"Make one commit for each milestone instead of one for all."`
	Message string `short:"m" placeholder:"<text>" help:"Message of the commit; default: the checkpoint's."`
	Branch  string `placeholder:"<branch>" help:"Create this branch for the commits, and leave the current branch and the index alone."`
	dryRunFlag
	yesFlag
	jsonFlag
	quietFlag
}

// Help returns the long help text of "land", for -h and the man page.
func (*LandCmd) Help() string {
	return `
Commits the files of steps to the current branch, including files that git did not track before. The message is the checkpoint's, with a trailer ` + "`Checkpoint-Id`" + `; you are the author, and the date is the checkpoint's. Hooks and signing work as for ` + "`git commit`" + `; with ` + "`--each`" + `, pre-commit runs once, for the last commit. The worktree does not change: what differs from the last landed step stays uncommitted. What looks like a secret is refused. ` + "`git checkpoint undo`" + ` moves the branch back.

    git checkpoint land -m "Add a queue"
    git checkpoint land --each -n
    git checkpoint land 3..5 --each --branch queue`
}

// Run prints the plan, asks, and makes the commits.
func (c *LandCmd) Run(ctx context.Context, app *App) error {
	request := land.Request{Session: c.Session, Range: c.Range, Each: c.Each, Message: c.Message, Branch: c.Branch}
	if c.Each && c.Message != "" {
		return usageError("--message is for one commit, and --each makes several")
	}
	// --yes is also the consent to land objects that could not be scanned for secrets.
	if c.Yes {
		request.Unscanned = clearance.UnscannedGoes
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		plan, err := land.Prepare(ctx, s, request)
		if err != nil {
			return err
		}
		planned := answer.ToLand{Plan: plan.Answer}
		if c.DryRun {
			return app.give(planned)
		}
		if err := app.confirm(ctx, planned, c.yesFlag); err != nil {
			return err
		}
		done, err := plan.Apply(ctx)
		return app.confirmUnless(err, answer.Landed{Done: done})
	})
}
