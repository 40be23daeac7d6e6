package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/interop"
	"git-checkpoint/internal/verb/transfer"
)

// ImportCmd is "git checkpoint import", for files that export wrote and for layouts of other
// systems. The type is recognised by what is there. Session, KeepGoing and DryRun are for layouts
// only.
type ImportCmd struct {
	File      string `arg:"" complete:"file" help:"File or directory to read."`
	Format    string `placeholder:"<name>" complete:"format" help:"What to read: go-team, ultra-create, orchestrate, crunch, pipeline, bundle, tar or jsonl; default: recognised by its contents."`
	Session   string `placeholder:"<name>" complete:"session" help:"Import only this session; if there is only one, give it this name."`
	KeepGoing bool   `help:"Import the rest if some files cannot be imported."`
	dryRunFlag
	resultFlags
}

// Run imports and prints what was imported.
func (c *ImportCmd) Run(ctx context.Context, app *App) error {
	own, err := c.own()
	if err != nil {
		return err
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		if own == "" {
			return c.layout(ctx, app, s.Rules)
		}
		found, err := transfer.Load(ctx, s, c.File, own)
		return app.travelled(found, err, answer.FilesByView)
	})
}

// layout imports files of another system. Problems with single files are warnings, and make the
// exit code 5 in the end.
func (c *ImportCmd) layout(ctx context.Context, app *App, s *checkpoint.Rules) error {
	done, err := interop.Import(ctx, s, interop.ImportRequest{From: c.File, Format: c.Format, Session: c.Session, DryRun: c.DryRun, KeepGoing: c.KeepGoing})
	if err != nil {
		return err
	}
	app.warnAll(done.Warnings)
	for _, p := range done.Problems {
		app.warn(p.String())
	}
	// The answer of a dry run is the reason for the command, so --quiet does not suppress it.
	show := app.confirmed
	if c.DryRun {
		show = app.give
	}
	return cmp.Or(show(answer.ImportedLayout{Done: done}), invalidIf(len(done.Problems) > 0))
}

// own returns the format of ours that the file is in. It is empty if package interop imports it:
// a directory, a single document of another system, or whatever --format names a layout for.
func (c *ImportCmd) own() (string, error) {
	info, err := os.Stat(c.File)
	switch {
	case err != nil:
		return "", &checkpoint.Error{Kind: checkpoint.KindNotFound, Err: err}
	case c.Format != "" && !slices.Contains(formatNames(), c.Format):
		return "", unknownFormat(c.Format, formatNames())
	case interop.Known(c.Format), c.Format == "" && info.IsDir():
		return "", nil
	case !info.IsDir() && !info.Mode().IsRegular(): // it is read twice: once to recognise the format; a pipe can be read only once
		return "", &checkpoint.Error{
			Kind: checkpoint.KindInvalid, Message: "\"" + c.File + "\" is neither a file nor a directory",
			Hints: []string{"write its contents to a file, and import that", "nothing was imported"},
		}
	}
	held := "" // a directory holds none of them
	if !info.IsDir() {
		if held, err = transfer.FormatOf(c.File); err != nil {
			return "", err
		}
	}
	switch {
	case held == "" && c.Format == "" && interop.IsDocument(c.File):
		return "", nil
	case c.DryRun || c.KeepGoing || c.Session != "":
		return "", usage.Error("--dry-run, --keep-going and --session are for files of other systems", "an export of this program is imported completely, or not at all")
	case held == "":
		return "", &checkpoint.Error{
			Kind: checkpoint.KindInvalid, Message: "\"" + c.File + "\" cannot be imported",
			Hints: []string{"formats that can be imported: " + strings.Join(formatNames(), ", "), "nothing was imported"},
		}
	case c.Format != "" && c.Format != held:
		return "", usage.Error(fmt.Sprintf("%q is a %s, not a %s", c.File, held, c.Format), "leave out --format: the format is recognised", "nothing was imported")
	}
	return held, nil
}
