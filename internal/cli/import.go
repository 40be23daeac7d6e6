package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
)

// ImportCmd is import.
type ImportCmd struct {
	File string `arg:"" help:"File or directory to read."`
	jsonFlag
	quietFlag
}

// Help is the detail of import.
func (*ImportCmd) Help() string {
	return `
Checks all of a file that ` + "`git checkpoint export`" + ` wrote, and then joins it with what is here, like a fetch. One bad member, and nothing is imported. Worktree, index, HEAD and configuration stay as they are.`
}

// Run imports.
func (c *ImportCmd) Run(ctx context.Context, app *App) error {
	chosen, err := importerFor(c.File)
	if err != nil {
		return err
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		return app.travelled(chosen.load(ctx, s, c.File))
	})
}
