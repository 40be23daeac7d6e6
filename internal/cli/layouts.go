package cli

import (
	"context"
	"slices"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/cli/usage"
	"git-checkpoint/internal/interop"
)

// importFlags are the flags of import that apply to layouts of other systems only.
type importFlags struct {
	Format    string `placeholder:"<name>" complete:"format" help:"What to read: go-team, ultra-create, orchestrate, crunch, pipeline, bundle, tar or jsonl; default: recognised by its contents."`
	Session   string `placeholder:"<name>" complete:"session" help:"Import only this session; if there is only one, give it this name."`
	KeepGoing bool   `help:"Import the rest if some files cannot be imported."`
	dryRunFlag
}

// exportFlags are the flags of export that have to do with layouts of other systems.
type exportFlags struct {
	Yes   bool `short:"y" help:"Also write what the guard could not scan for secrets."`
	Force bool `help:"Replace files or rows of a database that have other contents. A bundle, tar or jsonl file that an earlier export wrote needs no --force."`
}

// importLayout imports files of another system. Problems with single files are warnings, and make
// the exit code 5 in the end.
func (f *importFlags) importLayout(ctx context.Context, app *App, path string) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		req := interop.ImportRequest{From: path, Format: f.Format, Session: f.Session, DryRun: f.DryRun, KeepGoing: f.KeepGoing}
		done, err := interop.Import(ctx, s, req)
		if err != nil {
			return err
		}
		app.warnAll(done.Warnings)
		for _, p := range done.Problems {
			app.warn(p.String())
		}
		// The answer of a dry run is the reason for the command, so --quiet does not suppress it.
		show := app.confirmed
		if f.DryRun {
			show = app.give
		}
		if err := show(answer.ImportedLayout{Done: done}); err != nil {
			return err
		}
		return invalidIf(len(done.Problems) > 0)
	})
}

// writesLayout reports whether package interop exports the format.
func writesLayout(format string) bool {
	return slices.Contains(append(interop.Formats(), interop.SQLite), format)
}

// exportLayout writes the files of another system below a directory, or an SQLite database. If it
// had to leave out damaged checkpoints, the exit code is 5.
func (f *exportFlags) exportLayout(ctx context.Context, app *App, to, format string, sessions []string) error {
	if to == "" || to == "-" {
		return usage.Error("no directory to export to", "git checkpoint export DIR --format "+format)
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		req := interop.ExportRequest{To: to, Format: format, Sessions: sessions, Replace: f.Force, Unscanned: unscanned(f.Yes)}
		done, err := interop.Export(ctx, s, req)
		if err := app.confirmUnless(err, answer.ExportedLayout{Done: done}); err != nil {
			return err
		}
		return invalidIf(done.Damaged)
	})
}
