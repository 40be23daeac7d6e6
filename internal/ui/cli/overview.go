package cli

import (
	"context"
	"fmt"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
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
	last := answer.Beside{Status: &inspect.StatusAnswer{Others: s.Others(ctx, found.Session), MayFetch: found.MayFetch}}
	if err := app.give(answer.Here{Status: found}); err != nil {
		return err
	}
	out, fitting := app.Terminal.Out, answer.FittingNow(found)
	width := 0
	for _, f := range fitting {
		width = max(width, len(f.Command))
	}
	if len(fitting) > 0 {
		if err := app.view.Line(out); err != nil {
			return err
		}
	}
	for _, f := range fitting {
		if err := app.view.Line(out, render.Span{Role: render.ID, Text: fmt.Sprintf("  %-*s", width, f.Command)}, render.Span{Text: "  " + f.Does}); err != nil {
			return err
		}
	}
	return app.give(last)
}
