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
	Range string `arg:"" optional:"" name:"from..to" complete:"ref" help:"Steps to land, both ends included, or the last one; all up to the current one when not given."`
	sessionFlag
	Each    bool   `help:"Make a commit for each milestone, not one of all."`
	Message string `short:"m" placeholder:"<text>" help:"Message of the commit; the checkpoint's when not given."`
	Branch  string `placeholder:"<branch>" help:"Make this branch for the commits, and leave the current one and the index."`
	dryRunFlag
	yesFlag
	jsonFlag
	quietFlag
}

// Help returns the long help text of "land", for -h and the man page.
func (*LandCmd) Help() string {
	return `
The files of a step become a commit on the current branch, with what git did not track before. The message is the checkpoint's, with a trailer ` + "`Checkpoint-Id`" + `, the author is you, the time that of the checkpoint. Hooks and signing are those of ` + "`git commit`" + `; with ` + "`--each`" + ` pre-commit runs once, on the last. The worktree does not change: what differs from the last landed step stays uncommitted. What looks like a secret is refused. ` + "`git checkpoint undo`" + ` moves the branch back.

    git checkpoint land -m "Add a queue"
    git checkpoint land --each -n
    git checkpoint land 3..5 --each --branch queue`
}

// Run prints the plan, asks, and makes the commits.
func (c *LandCmd) Run(ctx context.Context, app *App) error {
	request := land.Request{Session: c.Session, Range: c.Range, Message: c.Message, Branch: c.Branch}
	if c.Each {
		request.How = land.Each
	}
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
