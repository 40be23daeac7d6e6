package create

import (
	"context"

	"git-checkpoint/internal/core/clearance"
)

// judgeTag returns what makes a milestone private if that needs no object to be read, else "".
// The Store judges the others. It also refuses invalid settings, which the Store does not.
func (c *draft) judgeTag(ctx context.Context) (string, error) {
	tags, err := c.s.Settings.Bool("checkpoint.tag", true)
	if err == nil {
		_, err = c.s.Settings.Bool("checkpoint.tagPrivate", false)
	}
	if err != nil || !tags || c.req.NoTag || !c.record.Milestone || c.s.Store.Private == nil {
		return "", err
	}
	if private := clearance.Talks(c.record); private != "" || len(c.capture.Untracked) == 0 {
		return private, nil
	}
	_, tracked := c.committed()
	for _, p := range c.capture.Untracked {
		if _, in, err := c.s.Repo.Trees.Lookup(ctx, tracked, p); err != nil || !in {
			return clearance.HoldsUntracked, err
		}
	}
	return "", nil
}
