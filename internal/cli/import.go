package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
)

// ImportCmd is "git checkpoint import", for files that export wrote and for layouts of other
// systems. The type is recognised by what is there (readsLayout, importerFor).
type ImportCmd struct {
	File string `arg:"" complete:"file" help:"File or directory to read."`
	importFlags
	resultFlags
}

// Run imports and prints what came.
func (c *ImportCmd) Run(ctx context.Context, app *App) error {
	reads, err := c.readsLayout(c.File)
	if reads {
		return c.importLayout(ctx, app, c.File)
	}
	if err != nil {
		return err
	}
	// From here on it is one of our own formats.
	chosen, err := importerFor(c.Format, c.File)
	if err != nil {
		return err
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		return app.travelled(chosen.load(ctx, s, c.File))
	})
}
