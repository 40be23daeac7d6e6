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

// Help returns the long help text of "sync", for -h and the man page.
func (*SyncCmd) Help() string {
	return `
Runs a ` + "`fetch`" + ` and then a ` + "`push`" + `. Afterwards both sides have everything that either one had.`
}

// Run fetches and pushes. With --dry-run it only compares.
func (c *SyncCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		if c.DryRun {
			return wouldTravel(ctx, app, s, c.request(app))
		}
		return app.travelled(travel.Sync(ctx, s, c.request(app)))
	})
}
