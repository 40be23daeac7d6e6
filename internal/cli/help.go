package cli

import (
	"embed"
	"errors"
	"io/fs"
	"strings"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/cli/usage"
)

// HelpCmd is "git checkpoint help [<command>]".
type HelpCmd struct {
	Command []string `arg:"" optional:"" help:"Command whose help to show." complete:"command"`
}

// Run prints the help of the program, or of the command that the arguments name.
func (c *HelpCmd) Run(app *App) error {
	node, err := usage.Find(app.model.Node, c.Command...)
	if err != nil {
		return err
	}
	return usage.WriteHelp(app.Terminal.Out, app.view.Style, node)
}

// helpTexts are the long help texts of the commands, for -h and the man page: help/create.txt,
// help/session-start.txt. A paragraph may be broken into lines, an indented block is an example.
//
//go:embed help
var helpTexts embed.FS

// describe gives the commands of a grammar their long help texts. Not every command has one.
func describe(node *kong.Node) error {
	text, err := helpTexts.ReadFile("help/" + strings.ReplaceAll(usage.Spelled(node), " ", "-") + ".txt")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	node.Detail = string(text)
	for _, c := range node.Children {
		if err := describe(c); err != nil {
			return err
		}
	}
	return nil
}
