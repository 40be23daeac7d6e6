package create

import (
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/record"
)

// noteTag writes into the record of a milestone that nobody meant it to have a tag. A step is meant to have
// one if somebody says so, or gives it a number or a name, and each step of a workflow is.
func (c *draft) noteTag() error {
	_, err := c.s.Settings.Bool("checkpoint.tag", true)
	if err == nil {
		_, err = c.s.Settings.Bool("checkpoint.tagPrivate", false)
	}
	r := c.record
	meant := c.req.Tag || c.req.Name != "" || c.req.Step != nil || c.def.Name != workflow.DefaultName && c.def.Name != workflow.AgentName
	if c.req.Fork != nil {
		was, said := record.Tagged.Of(c.prev.record.Extra)
		meant = was || !said
	}
	if r.Milestone && (c.req.NoTag || !meant) {
		record.Tagged.Set(&r.Extra, false)
	}
	return err
}
