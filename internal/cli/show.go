package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/inspect"
)

// ShowCmd is show.
type ShowCmd struct {
	Ref string `arg:"" optional:"" complete:"ref" help:"Checkpoint; the current one when not given."`
	sessionFlag
	Get    string `xor:"form" placeholder:"<path>" help:"Print one value of the record, by its path (GJSON syntax)."`
	Output string `xor:"form" placeholder:"<name>" complete:"output" help:"Print an output, byte for byte."`
	Stat   bool   `xor:"form" help:"Print git's statistics of the files that changed."`
	Patch  bool   `xor:"form" short:"p" help:"Print git's diff of the files that changed."`
	jsonFlag
}

// Help is the detail of show.
func (*ShowCmd) Help() string {
	return `
    git checkpoint show 3 --get state.metrics.test_coverage
    git checkpoint show @~1 --output spec > spec.md`
}

// Run shows.
func (c *ShowCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		if c.Output != "" {
			content, err := inspect.Output(ctx, s, c.Session, c.Ref, c.Output)
			if err != nil {
				return err
			}
			_, err = app.Terminal.Out.Write(content)
			return err
		}
		found, err := inspect.Show(ctx, s, c.Session, c.Ref)
		if err != nil {
			return err
		}
		for _, w := range found.Warnings {
			app.warn(w)
		}
		switch {
		case c.Get != "":
			return c.get(app, found)
		case c.Stat, c.Patch:
			return c.files(ctx, app, s, found)
		}
		return app.give(answer.Shown{Detail: found})
	})
}

// get prints what a GJSON path finds: a string as its text, anything else as JSON.
func (c *ShowCmd) get(app *App, found *checkpoint.Detail) error {
	document, err := answer.Shown{Detail: found}.Document()
	if err != nil {
		return err
	}
	value := gjson.GetBytes(document, c.Get)
	if !value.Exists() {
		return &checkpoint.Error{
			Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("%s has nothing at %q", found.Record.Label, c.Get),
			Hints: []string{"git checkpoint show --json shows the whole record"},
		}
	}
	return app.give(answer.Value(value.Raw))
}

func (c *ShowCmd) files(ctx context.Context, app *App, s *checkpoint.Service, found *checkpoint.Detail) error {
	flag := "--stat"
	if c.Patch {
		flag = "--patch"
	}
	return app.page(ctx, s, func(w io.Writer) error {
		between, err := inspect.ShownFiles(ctx, s, found)
		if err != nil {
			return err
		}
		code, err := inspect.PrintDiff(ctx, s, between, nil, []string{flag}, app.git(w))
		return ended(code, err)
	})
}
