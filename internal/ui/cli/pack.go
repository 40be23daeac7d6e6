package cli

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/background"
)

// PackCmd is the hidden command __pack, the background process that a create starts when many loose
// objects or refs have piled up (package background).
type PackCmd struct{}

// Run packs objects and refs. It prints nothing, because nobody sees its output.
func (c *PackCmd) Run(ctx context.Context, s *checkpoint.Service) error {
	return background.Pack(ctx, s.Repo)
}
