package cli

import (
	"embed"
	"errors"
	"io/fs"
	"strings"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/ui/cli/usage"
)

// HelpCmd is "git checkpoint help [<command>]".
type HelpCmd struct {
	All     bool     `short:"a" help:"Describe all commands."`
	Command []string `arg:"" optional:"" help:"Command whose help to show." complete:"command"`
}

// Run prints the help of the program, or of the command that the arguments name. Of the program it
// describes the everyday commands, or with --all all of them.
func (c *HelpCmd) Run(app *App) error {
	node, err := usage.Find(app.model.Node, c.Command...)
	if err != nil {
		return err
	}
	if c.All && len(c.Command) > 0 {
		return usage.Error("-a describes all commands, so it takes no command")
	}
	if c.All {
		return usage.WriteHelp(app.Terminal.Out, app.view.Style, node)
	}
	return usage.WriteBrief(app.Terminal.Out, app.view.Style, node, everyday())
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
