package create

import (
	"context"

	"git-checkpoint/internal/checkpoint"
)

// lookAhead computes the checkpoint without making it. It also works in a repository that can only
// be read, with objects in a temporary directory.
func lookAhead(ctx context.Context, s *checkpoint.Service, req Request) (*checkpoint.Detail, error) {
	var made *checkpoint.Detail
	err := s.RetryBorrowed(func() (err error) {
		made, err = createNow(ctx, s, req)
		return err
	})
	return made, err
}

// dryRun returns the checkpoint that would be made. It may write objects, but no refs.
func (c *creation) dryRun(ctx context.Context) (*checkpoint.Detail, error) {
	v, err := c.view(ctx)
	if err != nil {
		return nil, err
	}
	prev, err := c.previous(ctx, v)
	if err != nil {
		return nil, err
	}
	if err := c.compose(ctx, v, prev); err != nil {
		return nil, err
	}
	if err := c.refuseUnchanged(ctx, prev); err != nil {
		return nil, err
	}
	return c.detail(false), nil
}
