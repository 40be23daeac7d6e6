package cli

import (
	"context"

	"git-checkpoint/internal/background"
	"git-checkpoint/internal/checkpoint"
)

// PackCmd is the packing that a create starts.
type PackCmd struct{}

// Run packs, and says nothing: nobody listens.
func (c *PackCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error { return background.Pack(ctx, s) })
}
