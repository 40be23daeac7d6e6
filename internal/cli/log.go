package cli

import (
	"context"
	"io"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/inspect"
)

// LogCmd is log.
type LogCmd struct {
	sessionFlag
	Args []string `arg:"" optional:"" name:"git-log-option" verbatim:"" complete:"file" help:"Options and paths of git log."`
}

// Help is the detail of log.
func (*LogCmd) Help() string {
	return `
    git checkpoint log --oneline
    git checkpoint log -p -1 -- src`
}

// Run hands over to git log.
func (c *LogCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		return app.page(ctx, s, func(w io.Writer) error {
			code, err := inspect.PrintLog(ctx, s, c.Session, c.Args, app.git(w))
			return ended(code, err)
		})
	})
}
