package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/travel"
)

// FetchCmd is "git checkpoint fetch". It shares flags with push and sync (see travelFlags in
// push.go).
type FetchCmd struct {
	travelFlags
	// Tags is taken for the habit of "git fetch --tags". It is hidden, because tags are made in any
	// case, and no remote is asked for them.
	Tags bool `hidden:"" help:"Has no effect: a fetch always makes tags."`
}

// Run fetches from the remote and prints what came. With --dry-run it only compares.
func (c *FetchCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	if c.DryRun {
		return wouldTravel(ctx, app, s, c.request(app))
	}
	return app.travelled(travel.Fetch(ctx, s, c.request(app)))
}
