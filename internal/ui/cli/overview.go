package cli

import (
	"context"
	"fmt"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/inspect"
)

// OverviewCmd is what "git checkpoint" without a command runs.
type OverviewCmd struct{}

// Run prints the status and the five commands that people most often need next.
func (c *OverviewCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	found, err := inspect.Status(ctx, s, inspect.LookAtFiles)
	if err != nil {
		return app.damaged(found, err, 0)
	}
	last := answer.Beside{Status: &inspect.StatusAnswer{Others: s.Others(ctx, found.Session), MayFetch: found.MayFetch}}
	found.MayFetch = "" // it comes last
	if err := app.give(answer.Stands{Status: found}); err != nil {
		return err
	}
	out := app.Terminal.Out
	if err := app.view.Line(out); err != nil {
		return err
	}
	for _, name := range []string{"save", "list", "diff", "rollback", "undo"} {
		node, err := usage.Find(app.model.Node, name)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("  git checkpoint %-9s", name)
		if err := app.view.Line(out, render.Span{Role: render.ID, Text: line}, render.Span{Text: " " + node.Help}); err != nil {
			return err
		}
	}
	return app.give(last)
}
