package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/setup"
)

// ConfigCmd is config.
type ConfigCmd struct {
	jsonFlag
}

// Help is the detail of config.
func (*ConfigCmd) Help() string {
	return `
Settings are git's: ` + "`git config checkpoint.<name> <value>`" + ` sets one. What is given first here wins: the command line, ` + "`GIT_CHECKPOINT_<NAME>`" + `, git's configuration, the committed file ` + "`.checkpoint/config`" + `.`
}

// Run shows what counts, and where it comes from.
func (c *ConfigCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		found, err := setup.Config(ctx, s)
		if err != nil {
			return err
		}
		return app.give(answer.Settings(found))
	})
}
