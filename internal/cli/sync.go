package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/travel"
)

// SyncCmd is "git checkpoint sync": fetch, then push.
type SyncCmd struct {
	sendFlags
}

// Run fetches and pushes. With --dry-run it only compares.
func (c *SyncCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	if c.DryRun {
		return wouldTravel(ctx, app, s, c.foreseen(app))
	}
	return app.travelled(travel.Sync(ctx, s, c.request(app)))
}
