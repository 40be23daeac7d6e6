package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/clearance"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/cli/usage"
	"git-checkpoint/internal/transfer"
)

// ExportCmd is "git checkpoint export". There are two families of formats: our own (bundle, tar,
// jsonl; see formats.go), which lose nothing and can be imported again, and the file layouts of
// other systems (layouts.go).
type ExportCmd struct {
	File    string   `arg:"" optional:"" complete:"file" help:"File or directory to write; - means standard output."`
	Session []string `sep:"none" placeholder:"<name>" complete:"session" help:"Export only this session; can be repeated."`
	Format  string   `placeholder:"<name>" complete:"export format" help:"Format; default: by the ending of the file name, else bundle."`
	Since   string   `placeholder:"<bundle>" help:"Leave out what this earlier bundle contains."`
	exportFlags
	resultFlags
}

// Run writes the file. It prints no confirmation if the export itself goes to stdout.
func (c *ExportCmd) Run(ctx context.Context, app *App) error {
	if writesLayout(c.Format) {
		if c.Since != "" {
			return usage.Error("--since is for a bundle, tar or jsonl")
		}
		return c.exportLayout(ctx, app, c.File, c.Format, c.Session)
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
		done, err := chosen.export(ctx, s, transfer.ExportRequest{
			Destination: transfer.Destination{Path: c.File, Out: app.Terminal.Out, Force: c.Force},
			Sessions:    c.Session, Since: c.Since, Unscanned: unscanned(c.Yes),
		})
		if err != nil || c.File == "-" {
			return err
		}
		return app.confirmed(answer.Exported{Done: done})
	})
}

// unscanned says what happens to objects that the secret scanner could not read: with --yes they
// leave the repository.
func unscanned(yes bool) clearance.Unscanned {
	if yes {
		return clearance.UnscannedGoes
	}
	return clearance.UnscannedStays
}
