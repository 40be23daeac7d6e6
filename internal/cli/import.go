package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
)

// ImportCmd is "git checkpoint import", for files that export wrote and for layouts of other
// systems. The type is recognised by what is there (readsLayout, importerFor).
type ImportCmd struct {
	File string `arg:"" help:"File or directory to read."`
	importFlags
	jsonFlag
	quietFlag
}

// Help returns the long help text of "import", for -h and the man page.
func (*ImportCmd) Help() string {
	return `
Verifies a file that ` + "`git checkpoint export`" + ` wrote, and then merges it with what is here, like a fetch. If any part of the file is invalid, nothing is imported. Worktree, index, HEAD and configuration stay as they are.

From a directory it reads the files of go-team, ultra-create, orchestrate, crunch and pipeline: the directory is the root of a project, or any directory of such a layout. Each document becomes a checkpoint with its own time; what was imported before is not imported again. If a document names a commit that is here, the checkpoint has the files of that commit. Otherwise it has no files, and a rollback brings back only its state. If one of the files is broken, nothing is imported, unless you give ` + "`--keep-going`" + `.

    git checkpoint import job.bundle
    git checkpoint import -n ../old-project
    git checkpoint import ../old-project --format crunch`
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
