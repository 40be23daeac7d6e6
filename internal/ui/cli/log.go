package cli

import (
	"context"
	"io"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/inspect"
)

// LogCmd is "git checkpoint log": it passes its arguments to git log, for which each checkpoint has the one before
// it as its parent.
type LogCmd struct {
	sessionFlag
	Args []string `arg:"" optional:"" name:"git-log-option" verbatim:"" complete:"range or file" help:"Options and paths of git log."`
}

// Run runs git log through the pager.
func (c *LogCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	return app.page(ctx, s.Repo, func(w io.Writer) error {
		return ended(inspect.PrintLog(ctx, s.Sessions, c.Session, c.Args, app.git(w)))
	})
}
