package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/expunge"
)

// ExpungeCmd is "git checkpoint expunge": it rewrites the checkpoints that hold a file or secret.
type ExpungeCmd struct {
	Target  string  `arg:"" optional:"" name:"path|blob" help:"File, by its path in the checkpoints, or id of a blob."`
	Rule    string  `placeholder:"<rule>" help:"Remove everything that this rule of the guard finds, unless it was allowed."`
	Replace *string `placeholder:"<text>" help:"Keep the file, with this text in place of its secrets, or of its whole contents if no secret is found."`
	Session string  `placeholder:"<name>" complete:"session" help:"Only in this session; default: in all sessions."`
	asked
	jsonFlag
	quietFlag
}

// Help returns the long help text of "expunge", for -h and the man page.
func (*ExpungeCmd) Help() string {
	return `
Removes a file, a blob, or everything that a rule finds, from every checkpoint that holds it: from files, staged files, conflicts, outputs, messages and states. A file that you name is removed, and a secret in it is replaced by [secret: <rule>] wherever else it occurs. What a rule finds is replaced everywhere. Your files and branches are not touched.

A checkpoint never changes, so each one that holds it, and each later one of the same session, is written again under a new id; labels stay. Your next push removes the old ones from the remote, and the next fetch of others removes them from their clones. This repository keeps a list of what was expunged, and no push sends it again.

The objects stay in the repository until git's garbage collection deletes them; the answer says how to do that now. Change the secret in any case: anyone who fetched before may have it.

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
