package create

import (
	"context"
	"sync"

	"git-checkpoint/internal/core/workflow"
)

// define selects the workflow and checks that its trigger is switched on.
func (c *request) define(ctx context.Context) (*workflow.Definition, error) {
	if c.req.Fork != nil { // the checkpoint that is copied has passed all rules
		return c.s.DefinitionFor(ctx, c.req.Fork.From.State)
	}
	var def *workflow.Definition
	var err error
	if c.workflow != "" {
		def, err = c.s.Definition(c.workflow)
	} else {
		def, err = c.s.DefinitionOf(ctx, c.session)
	}
	if err != nil {
		return nil, err
	}
	return def, CheckTrigger(c.s, def, c.session, c.req.trigger(workflow.Accepted{}))
}

// definition waits for the workflow that define selects, and returns it or the error of define.
type definition func() (*workflow.Definition, error)

// loadDefinition runs define in the background while look scans the worktree, because reading the
// journal of a long session takes as long as that scan. No ref and no content may be written before
// the definition is there.
func (c *request) loadDefinition(ctx context.Context) definition {
	var def *workflow.Definition
	done := make(chan error, 1)
	go func() {
		var err error
		def, err = c.define(ctx)
		done <- err
	}()
	wait := sync.OnceValue(func() error { return <-done })
	return func() (*workflow.Definition, error) {
		err := wait()
		return def, err
	}
}
