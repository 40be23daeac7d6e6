package create

import (
	"context"

	"git-checkpoint/internal/core/clearance"
)

// judgeTag looks for what makes a milestone private and needs no object to be read. The Store judges
// the others. It also refuses invalid settings, which the Store does not.
func judgeTag(ctx context.Context, c *creation) error {
	c.private = ""
	tags, err := c.s.Settings.Bool("checkpoint.tag", true)
	if err == nil {
		_, err = c.s.Settings.Bool("checkpoint.tagPrivate", false)
	}
	if err != nil || !tags || c.req.NoTag || !c.record.Milestone || c.s.Store.Private == nil {
		return err
	}
	if c.private = clearance.Talks(c.record); c.private != "" || len(c.capture.Untracked) == 0 {
		return nil
	}
	head, err := c.headTree(ctx)
	if err != nil {
		return err
	}
	for _, p := range c.capture.Untracked {
		if _, in, err := c.s.Repo.Lookup(ctx, head, p); err != nil || !in {
			c.private = clearance.HoldsUntracked
			return err
		}
	}
	return nil
}
