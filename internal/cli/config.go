package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/setup"
)

// ConfigCmd is "git checkpoint config". It only reads: settings are made with git config.
type ConfigCmd struct {
	jsonFlag
}

// Help returns the long help text of "config", for -h and the man page.
func (*ConfigCmd) Help() string {
	return `
Settings are git configuration: ` + "`git config checkpoint.<name> <value>`" + ` sets one. If a setting is given in several places, the first of these wins: the command line, ` + "`GIT_CHECKPOINT_<NAME>`" + ` in the environment, git's configuration, the committed file ` + "`.checkpoint/config`" + `.`
}

// Run prints each setting with its value and its source.
func (c *ConfigCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		return app.give(answer.Settings(setup.Config(s)))
	})
}
