package cli

import (
	"context"
	"strings"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/retain"
)

// DescribeCmd is "git checkpoint describe". The record of the checkpoint stays as it was.
type DescribeCmd struct {
	Ref     string   `arg:"" optional:"" complete:"ref" help:"Checkpoint whose message to correct; default: the current one."`
	Message []string `brief:"" short:"m" sep:"none" placeholder:"<text>" help:"New message; repeat for more paragraphs."`
	sessionFlag
	dryRunFlag
	resultFlags
}

// Run corrects the message and confirms it.
func (c *DescribeCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	done, err := retain.Describe(ctx, s.Sessions, c.Session, c.Ref, strings.Join(c.Message, "\n\n"), c.DryRun)
	if c.DryRun {
		return app.giveUnless(err, answer.Described{Done: done, Planned: true})
	}
	return app.confirmUnless(err, answer.Described{Done: done})
}
