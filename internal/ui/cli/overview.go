package cli

import (
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/inspect"
)

// OverviewCmd is what "git checkpoint" without a command runs.
type OverviewCmd struct{}

// Run prints where somebody stands, what changed, and the one or two commands that fit now.
func (c *OverviewCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	found, err := inspect.Status(ctx, s, inspect.LookAtFiles)
	if err != nil {
		return app.damaged(found, err, 0)
	}
	return app.give(answer.Overview{Status: found, Others: s.Rules.Others(ctx, found.Session)})
}
