package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
)

// InitCmd is init.
type InitCmd struct {
	ExcludeDecoration *bool `negatable:"" help:"Leave checkpoints out of the names that git log shows."`
	quietFlag
}

// Help is the detail of init.
func (*InitCmd) Help() string {
	return `
Nothing needs it: the first checkpoint works without. It makes ` + "`git log`" + ` show the records of checkpoints (` + "`notes.displayRef`" + `), and offers to keep their refs out of its decorations (` + "`log.excludeDecoration`" + `).`
}

// Run sets the repository up.
func (c *InitCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		wish := c.ExcludeDecoration
		if wish == nil && app.Terminal.Interactive() {
			yes, err := app.Terminal.Confirm(ctx, "Leave checkpoints out of the names that git log shows?")
			if err != nil {
				return err
			}
			wish = &yes
		}
		made, err := s.Init(ctx, checkpoint.InitRequest{ExcludeDecoration: wish != nil && *wish})
		if err != nil {
			return err
		}
		return app.settings(made, "Set", "Everything was set already")
	})
}

// settings confirms what was changed in git's configuration, a line for each.
func (a *App) settings(changed []string, verb, nothing string) error {
	if len(changed) == 0 {
		return a.say("%s", nothing)
	}
	for _, line := range changed {
		if err := a.say("%s: %s", verb, line); err != nil {
			return err
		}
	}
	return nil
}
