package cli

import (
	_ "embed"

	"git-checkpoint/internal/cli/usage"
)

// ManCmd is the hidden command __man, which the Makefile runs to make the man page.
type ManCmd struct{}

// manText is the text of the man page beside the commands: the description, exit codes, settings,
// environment and files.
//
//go:embed man.txt
var manText string

// Run prints the man page, made from the same grammar as the help.
func (c *ManCmd) Run(app *App) error {
	return usage.WriteManPage(app.Terminal.Out, app.model, manText)
}

// summary is what the help and the man page say about the program in one line.
const summary = "Record where a multi-step job stands in a git repository, and take it back there."
