package cli

import (
	"context"
	"io"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/inspect"
)

// ShowCmd is "git checkpoint show". It prints a whole checkpoint, or one part of it: a value, an
// output, a file, or what git prints about the changed files.
type ShowCmd struct {
	Ref string `arg:"" optional:"" complete:"ref" help:"Checkpoint, checkpoint:path for one of its files, or a commit; default: the current checkpoint."`
	whereFlag
	sessionFlag
	Get    string `group:"program" xor:"form" placeholder:"<path>" help:"Print one value of the record, by its path (GJSON syntax)."`
	Output string `group:"program" xor:"form" apart:"json" placeholder:"<name>" complete:"output" help:"Print an output, byte for byte."`
	Stat   bool   `xor:"form" apart:"json" help:"Print git's statistics of the files that changed."`
	Patch  bool   `xor:"form" apart:"json" short:"p" help:"Print git's diff of the files that changed. Other options of git diff do so, too: --name-only, --word-diff, -w, -S..."`
	gitFlags
	jsonFlag
}

// Run prints the checkpoint, or the part that a flag selects.
func (c *ShowCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) (err error) {
	if c.Ref, err = c.choose(ctx, app, s.Sessions, c.Session, c.Ref); err != nil {
		return err
	}
	if of, file, ok := checkpoint.FileIn(ctx, s.Sessions, c.Session, c.Ref); ok {
		return c.file(ctx, app, s.Sessions, of, file)
	}
	if c.Output != "" {
		content, err := inspect.Output(ctx, s.Sessions, c.Session, c.Ref, c.Output)
		if err != nil {
			return err
		}
		_, err = app.Terminal.Out.Write(content)
		return err
	}
	found, err := inspect.Show(ctx, s.Sessions, c.Session, c.Ref)
	if err != nil && c.Get == "" && !c.Stat && !c.Patch && len(c.Git) == 0 {
		return app.behindUnless(ctx, s.Rules, c.Ref, s.Sessions.MeantFile(ctx, c.Session, c.Ref, "show @:%s", err))
	}
	if err != nil {
		return s.Sessions.MeantFile(ctx, c.Session, c.Ref, "show @:%s", err)
	}
	app.warnAll(found.Warnings)
	switch {
	case c.Get != "":
		return c.get(app, found)
	case c.Stat, c.Patch, len(c.Git) > 0:
		return c.files(ctx, app, s, found)
	}
	shown := answer.Shown{Detail: found}
	if !app.json {
		shown.Since = inspect.ChangesOf(ctx, s, found)
	}
	return app.giveLong(ctx, s.Repo, shown)
}

// file prints a file of the checkpoint byte for byte, as git show does for <commit>:<path>.
func (c *ShowCmd) file(ctx context.Context, app *App, s *checkpoint.Sessions, of, file string) error {
	if c.Output != "" || c.Get != "" || c.Stat || c.Patch || len(c.Git) > 0 || app.json {
		return usage.Error("a file is always printed as it is: no flag for another form can be used with "+c.Ref, "git checkpoint diff "+of+":"+file+" -p shows what changed in it since")
	}
	return ended(inspect.PrintFile(ctx, s, c.Session, of, file, app.git(app.Terminal.Out)))
}

// get prints the value at a GJSON path of the record: a string as its text, anything else as JSON.
func (c *ShowCmd) get(app *App, found *checkpoint.Detail) error {
	document, err := found.MarshalJSON()
	if err != nil {
		return err
	}
	value := gjson.GetBytes(document, c.Get)
	if !value.Exists() {
		return checkpoint.Failure(checkpoint.KindNotFound, "git checkpoint show --json shows the whole record", "%s has no value at %q", found.Mention(), c.Get)
	}
	return app.give(answer.Value(value.Raw))
}

// files prints git's statistics or diff of the files that the checkpoint changed.
func (c *ShowCmd) files(ctx context.Context, app *App, s *checkpoint.Service, found *checkpoint.Detail) error {
	flags := c.Git
	switch {
	case c.Stat:
		flags = append(flags, "--stat")
	case c.Patch:
		flags = append(flags, "--patch")
	}
	return app.page(ctx, s.Repo, func(w io.Writer) error {
		between, err := inspect.ShownFiles(ctx, s.Store, found)
		if err != nil {
			return err
		}
		return ended(inspect.PrintDiff(ctx, s, between, nil, flags, app.git(w)))
	})
}
