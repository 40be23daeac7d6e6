package create

// This file makes the first checkpoint of an attempt. An attempt is a session that starts with a
// copy of another session's checkpoint, usually in a worktree of its own.

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/storage/store"
)

// Fork says which checkpoint the first one of an attempt copies. State, outputs, step and label are
// the same, so the attempt needs nothing from the session that it was forked from.
type Fork struct {
	From *checkpoint.Found
	Name string // the name of the attempt; empty: it is not an attempt
}

// forked returns the checkpoint to copy as the base. The session of the attempt must not exist yet.
func (c *captured) forked(ctx context.Context, v store.View) (base, error) {
	if v.State != nil {
		return base{}, checkpoint.Usage("choose another name with --session-name", "session %q already exists", c.session)
	}
	got, err := c.s.ReadStored(ctx, c.req.Fork.From.Entry)
	if err != nil {
		return base{}, checkpoint.DamagedError(c.req.Fork.From.Entry, err)
	}
	return base{record: checkpoint.DescribedBy(c.req.Fork.From.Entry, got.Record), tree: got.Record.Snapshot.Tree, commit: got.Commit}, nil
}

// placeAsForked copies step, label and the other names of the checkpoint.
func (c *draft) placeAsForked() {
	r, f := c.record, c.prev.record
	r.Step, r.StepName, r.Iteration, r.Milestone, r.Label = f.Step, f.StepName, f.Iteration, f.Milestone, f.Label
	r.Trigger, r.Message, r.Error, r.Topic = f.Trigger, f.Message, f.Error, c.req.Fork.From.State.Topic
}

// forking completes the events that start an attempt. The start event says where the attempt came
// from. A skip event for each step that was done or skipped before keeps a workflow that checks the
// order of steps from asking for them again.
func (c *draft) forking(start journal.Event) []journal.Event {
	from := c.req.Fork.From
	start.Topic = from.State.Topic
	start.Extra = []journal.Trailer{
		{Key: checkpoint.TrailerForkSession, Value: string(from.Session)},
		{Key: checkpoint.TrailerForkCheckpoint, Value: string(from.Entry.Checkpoint)},
	}
	if c.req.Fork.Name != "" {
		start.Extra = append(start.Extra, journal.Trailer{Key: checkpoint.TrailerForkName, Value: c.req.Fork.Name})
	}
	// known holds the steps that need no skip event: the step of the copied checkpoint is done
	// here.
	events, known := []journal.Event{start}, map[int]bool{c.record.Step: true}
	skip := func(step int, reason string) {
		if known[step] {
			return
		}
		known[step] = true
		e := c.eventOf(journal.KindSkip)
		e.Step, e.Reason = step, reason
		events = append(events, e)
	}
	for e := range from.State.LineTo(from.Entry) {
		if e.Milestone {
			skip(e.Step, fmt.Sprintf("done as %s in session %s", checkpoint.CalledBy(e), from.Session))
		}
	}
	for _, step := range slices.Sorted(maps.Keys(from.State.Skipped)) {
		skip(step, from.State.Skipped[step].Reason)
	}
	return events
}

// starting returns the events that start the session.
func (c *draft) starting() []journal.Event {
	start := c.eventOf(journal.KindStart)
	start.Workflow, start.Topic, start.Branch = c.def.Name, c.record.Topic, string(c.s.Repo.Head.Branch)
	if c.req.Fork == nil {
		return []journal.Event{start}
	}
	return c.forking(start)
}
