package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/connect"
	"git-checkpoint/internal/setup"
)

// DeinitCmd is deinit.
type DeinitCmd struct {
	All bool `help:"Remove all sessions with their checkpoints, notes and tags too."`
	yesFlag
	quietFlag
}

// Help is the detail of deinit.
func (*DeinitCmd) Help() string {
	return `
Takes out of git's configuration what ` + "`git checkpoint init`" + ` put there, and out of the files of coding agents in this worktree what ` + "`git checkpoint agent add`" + ` put there; for the latter it shows what goes and asks. Checkpoints stay, unless you say ` + "`--all`" + `, which asks too.`
}

// disconnect takes hooks out of agents' files, before what was added there is forgotten.
func (c *DeinitCmd) disconnect(ctx context.Context, app *App, s *checkpoint.Service) error {
	plan, err := connect.PlanDeinit(s)
	if err != nil || !plan.Changes() {
		return err
	}
	shown := answer.Connected{Plan: plan, Name: func(file string) string { return connect.Relative(s, file) }}
	if err := app.confirm(ctx, shown, c.yesFlag); err != nil {
		return err
	}
	return plan.Apply(ctx)
}

// Run takes the set-up out.
func (c *DeinitCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		request := setup.DeinitRequest{All: c.All}
		if c.All {
			plan, err := setup.PlanDeinit(ctx, s, request)
			if err != nil {
				return err
			}
			if !c.Yes { // else what was removed is all that is to be said
				err = app.confirm(ctx, answer.RefsToDelete{Removed: plan}, c.yesFlag)
			}
			if err != nil {
				return err
			}
		}
		if err := c.disconnect(ctx, app, s); err != nil {
			return err
		}
		gone, err := setup.Deinit(ctx, s, request)
		if err != nil {
			return err
		}
		return app.settings(gone, "Removed", "Nothing was set")
	})
}
