package cli

import (
	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/setup"
)

// ConfigCmd is "git checkpoint config". It only reads: settings are made with git config.
type ConfigCmd struct {
	jsonFlag
}

// Run prints each setting with its value and its source.
func (c *ConfigCmd) Run(app *App, s *checkpoint.Service) error {
	return app.give(answer.Settings(setup.Config(s.Settings)))
}
