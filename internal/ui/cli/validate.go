package cli

import (
	"bytes"
	"cmp"
	"context"
	"io"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/verb/repair"
)

// ValidateCmd is "git checkpoint validate".
type ValidateCmd struct {
	Ref           string `arg:"" optional:"" complete:"ref" help:"Checkpoint to validate; default: all of the session."`
	Session       string `xor:"which" placeholder:"<name>" complete:"session" help:"Session to validate instead of the active one."`
	All           bool   `xor:"which" apart:"ref" help:"Validate all sessions."`
	Deep          bool   `help:"Read every object, not only the records."`
	RequireSigned bool   `help:"Require that every checkpoint and event is signed by somebody whom git trusts."`
	resultFlags
}

// Run prints a line for each checkpoint and a summary, and ends with code 5 if anything is damaged.
// With --quiet it prints only what is damaged.
func (c *ValidateCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	// The summary is counted from all lines, also from those that --quiet suppresses.
	found := answer.Validation{}
	give, flush := app.giveMany(ctx, s.Repo)
	err := c.each(ctx, app, s.Sessions, func(line repair.Validated) error {
		found.Count(line)
		if app.quiet && line.OK {
			return nil
		}
		return give(answer.Validated(line))
	})
	if err == nil && !app.json && !app.quiet {
		err = give(found)
	}
	return cmp.Or(err, flush(), invalidIf(!found.Sound()))
}

// each calls do with what is found about each checkpoint and session.
func (c *ValidateCmd) each(ctx context.Context, app *App, s *checkpoint.Sessions, do func(repair.Validated) error) error {
	request := repair.ValidateRequest{Ref: c.Ref, Session: c.Session, All: c.All, Deep: c.Deep, RequireSigned: c.RequireSigned}
	if c.Deep {
		progress := app.Terminal.Progress("Reading objects")
		defer progress.Finish()
		request.Read = func(n int) { progress.Add(int64(n)) }
	}
	return repair.Validate(ctx, s, request, do)
}

// giveMany is give for answers that come one after the other. For people they are collected, and more than a
// screen goes through the pager; otherwise they are written in large pieces. flush must be called after the
// last one, also after an error.
func (a *App) giveMany(ctx context.Context, repo *git.Repo) (give func(answer.Answer) error, flush func() error) {
	if a.Terminal.OutTerminal && !a.json {
		var text bytes.Buffer
		return func(found answer.Answer) error { return a.show(&text, found) },
			func() error {
				return a.long(ctx, repo, func(w io.Writer) error { _, err := text.WriteTo(w); return err })
			}
	}
	out := held(a.Terminal.Out)
	return func(found answer.Answer) error { return a.show(out, found) }, out.Flush
}
