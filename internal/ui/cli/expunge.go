package cli

import (
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/expunge"
)

// ExpungeCmd is "git checkpoint expunge": it rewrites the checkpoints that hold a file or secret.
type ExpungeCmd struct {
	Target  string  `arg:"" optional:"" name:"path|blob" help:"File, by its path in the checkpoints, or id of a blob."`
	Rule    string  `placeholder:"<rule>" help:"Remove everything that this rule of the guard finds, unless it was allowed."`
	Replace *string `placeholder:"<text>" help:"Keep the file, with this text in place of its secrets, or of its whole contents if no secret is found."`
	Session string  `group:"common" placeholder:"<name>" complete:"session" help:"Only in this session; default: in all sessions."`
	confirmFlags
	resultFlags
}

// Run shows what would be rewritten, asks, and does it.
func (c *ExpungeCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	plan, err := expunge.Prepare(ctx, s, expunge.Request{Target: c.Target, Rule: c.Rule, Session: c.Session, Replace: c.Replace})
	if err != nil {
		return err
	}
	if agreed, err := app.agreed(ctx, answer.ToExpunge{Plan: plan.Answer()}, c.confirmFlags); !agreed {
		return err
	}
	done, err := plan.Apply(ctx)
	return app.confirmUnless(err, answer.Expunged{Done: done})
}
