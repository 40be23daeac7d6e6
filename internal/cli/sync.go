package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/travel"
)

// SyncCmd is sync.
type SyncCmd struct {
	sendFlags
}

// Help is the detail of sync.
func (*SyncCmd) Help() string {
	return `
A ` + "`fetch`" + ` and then a ` + "`push`" + `: afterwards both sides have everything that either had.`
}

// Run fetches, then pushes.
func (c *SyncCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		if c.DryRun {
			return wouldTravel(ctx, app, s, c.request(app))
		}
		return app.travelled(travel.Sync(ctx, s, c.request(app)))
	})
}
