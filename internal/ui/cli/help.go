package cli

import (
	"context"
	"embed"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/ui/cli/usage"
)

// HelpCmd is "git checkpoint help [<command>]".
type HelpCmd struct {
	All     bool     `short:"a" help:"Describe all commands."`
	Command []string `arg:"" optional:"" help:"Command whose help to show." complete:"command"`
}

// Run prints the help of the program, or all of that of the command that the arguments name. For the program it
// describes the everyday commands, or with --all more of them.
func (c *HelpCmd) Run(ctx context.Context, app *App) error {
	node, err := usage.Find(app.model.Node, c.Command...)
	if err != nil {
		return err
	}
	if c.All && len(c.Command) > 0 {
		return usage.Error("-a describes all commands, so it takes no command")
	}
	return app.help(ctx, node, !c.All && len(c.Command) == 0)
}

// help prints the help of a command or of the program; brief leaves out what few people need. In a repository git's
// configuration may name the pager.
func (a *App) help(ctx context.Context, node *kong.Node, brief bool) error {
	var repo *git.Repo
	if a.Terminal.OutTerminal {
		if opened, err := checkpoint.Open(ctx, checkpoint.Options{Dir: a.dir, Env: a.Terminal.Environ, Now: a.currentTime, Warn: func(string) {}}); err == nil {
			repo = opened.Repo
			defer opened.Close()
		}
	}
	return a.long(ctx, repo, func(w io.Writer) error {
		if brief {
			return usage.WriteBrief(w, a.view.Style, node, everyday())
		}
		return usage.WriteHelp(w, a.view.Style, node)
	})
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

// manText is the text of the man page apart from the commands: the description, exit codes,
// settings, environment and files.
//
//go:embed man.txt
var manText string

// Run prints the man page, made from the same grammar as the help.
func (c *ManCmd) Run(app *App) error { return usage.WriteManPage(app.Terminal.Out, app.model, manText) }

// summary is what the help and the man page say about the program in one line.
const summary = "Record where a multi-step job stands in a git repository, and take it back there."
