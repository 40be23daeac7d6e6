package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/expunge"
)

// ExpungeCmd is "git checkpoint expunge": it rewrites the checkpoints that hold a file or secret.
type ExpungeCmd struct {
	Target  string  `arg:"" optional:"" name:"path|blob" help:"File, by its path in the checkpoints, or the id of a blob."`
	Rule    string  `placeholder:"<rule>" help:"Everything that this rule of the guard finds and nobody allowed."`
	Replace *string `placeholder:"<text>" help:"Keep the file, with this text in the place of its secrets, or of all of it where none is found."`
	sessionFlag
	asked
	jsonFlag
	quietFlag
}

// Help returns the long help text of "expunge", for -h and the man page.
func (*ExpungeCmd) Help() string {
	return `
Takes a file, a blob or what a rule finds out of every checkpoint that holds it, in all sessions or in one: out of files, of what was staged, of conflicts, outputs, messages and states. A named file goes; a secret that is in it is replaced by [secret: <rule>] wherever else it stands. What a rule finds is replaced everywhere. Your files and branches are not touched.

Checkpoints never change, so each that holds it is written again under a new id, and so is each after it in its session; labels stay. The next push takes the old ones away at the remote, the next fetch of others takes them away there. What was expunged stays on a list in this repository, and no push sends it again.

The objects are there until git's garbage collection removes them; the end says how. Change the key in any case: whoever fetched before may have it.

    git checkpoint expunge config.env -n
    git checkpoint expunge --rule aws-access-key -y`
}

// Run shows what would be rewritten, asks, and does it.
func (c *ExpungeCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		plan, err := expunge.Prepare(ctx, s, expunge.Request{Target: c.Target, Rule: c.Rule, Session: c.Session, Replace: c.Replace})
		if err != nil {
			return err
		}
		if c.DryRun {
			return app.give(answer.ToExpunge{Plan: plan.Answer()})
		}
		if err := app.confirm(ctx, answer.ToExpunge{Plan: plan.Answer()}, c.yesFlag); err != nil {
			return err
		}
		done, err := plan.Apply(ctx)
		return app.confirmUnless(err, answer.Expunged{Done: done})
	})
}
