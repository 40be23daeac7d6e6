package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/rollback"
)

// UndoCmd is undo.
type UndoCmd struct {
	dryRunFlag
	yesFlag
	jsonFlag
	quietFlag
}

// Help is the detail of undo.
func (*UndoCmd) Help() string {
	return `
Files, index, branch and the current checkpoint are as they were before, to the byte. An undo can be undone too.`
}

// Run takes the last rollback back.
func (c *UndoCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		plan, err := rollback.PrepareUndo(ctx, s, "", c.DryRun)
		if err != nil {
			return err
		}
		return app.carryOut(ctx, plan, asked{c.dryRunFlag, c.yesFlag}, undone)
	})
}

func undone(d *rollback.Answer) answer.Answer { return answer.Undone{Done: d} }
