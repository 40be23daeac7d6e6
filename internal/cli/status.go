package cli

import (
	"context"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/connect"
	"git-checkpoint/internal/inspect"
)

// StatusCmd is status.
type StatusCmd struct {
	ExitCode bool `help:"End with exit code 2 when files changed since the current checkpoint."`
	filesFlag
	jsonFlag
}

// Run says where the job stands.
func (c *StatusCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		found, err := inspect.Status(ctx, s)
		if err != nil {
			return err
		}
		if err := app.give(answer.Stands{Status: found, Files: c.names()}); err != nil {
			return err
		}
		// Where the git directory cannot be written nobody remembers, and nothing is told.
		if news, err := connect.News(s); err == nil && len(news) > 0 && !app.json {
			app.warn("this repository has hooks of " + strings.Join(news, ", ") + ", which do nothing without your consent: git checkpoint agent add " + news[0])
		}
		if troubled, err := connect.Troubled(s); err == nil && !app.json {
			for _, st := range troubled {
				problem, remedy := st.Trouble()
				app.warn(st.Title + ": " + problem + " (" + remedy + ")")
			}
		}
		if c.ExitCode && (len(found.Changed) > 0 || found.ChangedUnknown) {
			return differs
		}
		return nil
	})
}
