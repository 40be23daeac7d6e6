package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
)

// ImportCmd is "git checkpoint import", for files that export wrote and for layouts of other
// systems. The type is recognised by what is there (own, in formats.go).
type ImportCmd struct {
	File string `arg:"" complete:"file" help:"File or directory to read."`
	importFlags
	resultFlags
}

// Run imports and prints what came.
func (c *ImportCmd) Run(ctx context.Context, app *App) error {
	own, err := c.own(c.File)
	switch {
	case err != nil:
		return err
	case own == nil:
		return c.importLayout(ctx, app, c.File)
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		return app.travelled(own.load(ctx, s, c.File))
	})
}
