package cli

import (
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/verb/retain"
)

// PinCmd is "git checkpoint pin". A pinned checkpoint is never pruned.
type PinCmd struct {
	Refs []string `arg:"" name:"ref" complete:"ref" help:"Checkpoints to pin."`
	sessionFlag
	resultFlags
}

// Run pins checkpoints and prints which.
func (c *PinCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	pinned, err := retain.Mark(ctx, s.Sessions, journal.KindPin, c.Session, c.Refs)
	return app.confirmUnless(err, answer.Marked(pinned))
}

// UnpinCmd is "git checkpoint unpin".
type UnpinCmd struct {
	Refs []string `arg:"" name:"ref" complete:"ref" help:"Checkpoints to unpin."`
	sessionFlag
	resultFlags
}

// Run unpins checkpoints and prints which.
func (c *UnpinCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	freed, err := retain.Mark(ctx, s.Sessions, journal.KindUnpin, c.Session, c.Refs)
	return app.confirmUnless(err, answer.Marked(freed))
}
