package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
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
Takes out of git's configuration what ` + "`git checkpoint init`" + ` put there. Checkpoints stay, unless you say ` + "`--all`" + `, which asks first.`
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
		gone, err := setup.Deinit(ctx, s, request)
		if err != nil {
			return err
		}
		return app.settings(gone, "Removed", "Nothing was set")
	})
}
