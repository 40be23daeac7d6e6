package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/travel"
)

// FetchCmd is fetch.
type FetchCmd struct {
	travelFlags
}

// Help is the detail of fetch.
func (*FetchCmd) Help() string {
	return `
Brings what others saved, checks it, and joins it with what is here: their checkpoints, rollbacks, pins and removals. Files of the worktree are not touched. With ` + "`--session`" + ` that session alone is brought. Tags are made here, whether they travel or not.`
}

// Run brings.
func (c *FetchCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		if c.DryRun {
			return wouldTravel(ctx, app, s, c.request(app))
		}
		return app.travelled(travel.Fetch(ctx, s, c.request(app)))
	})
}
