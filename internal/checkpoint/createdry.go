package checkpoint

import (
	"context"
	"errors"

	"git-checkpoint/internal/store"
)

// lookAhead shows what would be captured, also where nothing can be written.
func (s *Service) lookAhead(ctx context.Context, req CreateRequest) (*Detail, error) {
	var made *Detail
	err := s.lookOn(func() (err error) {
		made, err = s.createNow(ctx, req)
		return err
	})
	return made, err
}

// dryRun answers what would be captured; objects may have been written, refs not.
func (c *creation) dryRun(ctx context.Context) (*Detail, error) {
	v := store.View{Session: c.session}
	if st, err := c.s.store.State(ctx, c.session); err == nil {
		v.State = st
	} else if !errors.Is(err, store.ErrNoSession) {
		return nil, classify(err)
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
