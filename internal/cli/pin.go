package cli

import (
	"context"
	"strings"

	"git-checkpoint/internal/checkpoint"
)

// PinCmd is pin.
type PinCmd struct {
	Refs []string `arg:"" name:"ref" complete:"ref" help:"Checkpoints to keep."`
	sessionFlag
	quietFlag
}

// Run pins.
func (c *PinCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		pinned, err := s.Pin(ctx, c.Session, c.Refs)
		if err != nil {
			return err
		}
		return app.say("Pinned: %s", labels(pinned))
	})
}

// UnpinCmd is unpin.
type UnpinCmd struct {
	Refs []string `arg:"" name:"ref" complete:"ref" help:"Checkpoints that may go."`
	sessionFlag
	quietFlag
}

// Run unpins.
func (c *UnpinCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		freed, err := s.Unpin(ctx, c.Session, c.Refs)
		if err != nil {
			return err
		}
		return app.say("Unpinned: %s", labels(freed))
	})
}

func labels(named []checkpoint.Labelled) string {
	text := make([]string, len(named))
	for i, n := range named {
		text[i] = n.Label
	}
	return strings.Join(text, ", ")
}
