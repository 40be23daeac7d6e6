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
)

// Fork says which checkpoint the first one of an attempt copies. State, outputs, step and label are
// the same, so the attempt needs nothing from the session that it was forked from.
type Fork struct {
	From *checkpoint.Found
	Name string // the name of the attempt; empty: it is not an attempt
}

// forked returns the checkpoint to copy as the base. The session of the attempt, which is nil then, must not exist yet.
func (r *request) forked(ctx context.Context, st *journal.State) (base, error) {
	if st != nil {
		return base{}, checkpoint.Usage("choose another name with --session-name", "session %q already exists", r.home.session)
	}
	from := r.req.Fork.From.Entry
	got, err := checkpoint.ReadStored(ctx, r.s.Store, from)
	if err != nil {
		return base{}, checkpoint.DamagedError(from, err)
	}
	return base{record: checkpoint.DescribedBy(from, got.Record), tree: got.Record.Snapshot.Tree, commit: got.Commit}, nil
}

// forking returns the events that start a session: for an attempt, the start event says where it came
// from. A skip event for each step that was done or skipped before keeps a workflow that checks the
// order of steps from asking for them again; the one that was copied is done here.
func (r *request) forking(start, shared journal.Event, copied int) []journal.Event {
	if r.req.Fork == nil {
		return []journal.Event{start}
	}
	from := r.req.Fork.From
	start.Extra = []journal.Trailer{
		{Key: checkpoint.TrailerForkSession, Value: string(from.Session)},
		{Key: checkpoint.TrailerForkCheckpoint, Value: string(from.Entry.Checkpoint)},
	}
	if r.req.Fork.Name != "" {
		start.Extra = append(start.Extra, journal.Trailer{Key: checkpoint.TrailerForkName, Value: r.req.Fork.Name})
	}
	events, known := []journal.Event{start}, map[int]bool{copied: true}
	skip := func(step int, reason string) {
		if !known[step] {
			known[step] = true
			e := eventOf(shared, journal.KindSkip)
			e.Step, e.Reason = step, reason
			events = append(events, e)
		}
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
