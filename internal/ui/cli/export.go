package cli

import (
	"cmp"
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/interop"
	"git-checkpoint/internal/verb/transfer"
)

// ExportCmd is "git checkpoint export". There are two families of formats: our own (bundle, tar,
// jsonl; see formats.go), which lose nothing and can be imported again, and the file layouts of
// other systems.
type ExportCmd struct {
	File    string   `arg:"" optional:"" complete:"file" help:"File or directory to write; - means standard output."`
	Session []string `group:"common" sep:"none" placeholder:"<name>" complete:"session" help:"Export only this session; can be repeated."`
	Format  string   `placeholder:"<name>" complete:"export format" help:"Format; default: by the ending of the file name, else bundle."`
	Since   string   `placeholder:"<bundle>" help:"Leave out what this earlier bundle contains."`
	Yes     bool     `short:"y" help:"Write without asking, even what is private and what the guard could not scan for secrets."`
	Force   bool     `help:"Replace files or rows of a database that have other contents. A bundle, tar or jsonl file that an earlier export wrote needs no --force."`
	resultFlags
}

// Run writes the file. It prints no confirmation if the export itself goes to stdout.
func (c *ExportCmd) Run(ctx context.Context, app *App) error {
	if interop.Known(c.Format) || c.Format == interop.SQLite {
		return c.layout(ctx, app)
	}
	chosen, err := exporterFor(c.Format, c.File)
	if err != nil {
		return err
	}
	// A pipe gets the file without a "-", but binary data must not be written to a terminal.
	if c.File == "" && app.Terminal.OutTerminal {
		return usage.Error("no file to export to", "git checkpoint export FILE, or - for standard output")
	}
	if c.File == "" {
		c.File = "-"
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		done, err := transfer.Export(ctx, s, transfer.ExportRequest{
			Destination: transfer.Destination{Path: c.File, Out: app.Terminal.Out, Force: c.Force},
			Sessions:    c.Session, Since: c.Since, Unscanned: c.Yes, Agree: app.agreeing(c.Yes, "Write it?"),
		}, chosen)
		if err != nil || c.File == "-" {
			return err
		}
		return app.confirmed(answer.Exported{Done: done})
	})
}

// layout writes the files of another system below a directory, or an SQLite database. If it had to
// leave out damaged checkpoints, the exit code is 5.
func (c *ExportCmd) layout(ctx context.Context, app *App) error {
	switch {
	case c.Since != "":
		return usage.Error("--since is for a bundle, tar or jsonl")
	case c.File == "", c.File == "-":
		return usage.Error("no directory to export to", "git checkpoint export DIR --format "+c.Format)
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		done, err := interop.Export(ctx, s, interop.ExportRequest{To: c.File, Format: c.Format, Sessions: c.Session, Replace: c.Force, Unscanned: c.Yes, Agree: app.agreeing(c.Yes, "Write them?")})
		if err != nil {
			return err
		}
		return cmp.Or(app.confirmed(answer.ExportedLayout{Done: done}), invalidIf(done.Damaged))
	})
}
