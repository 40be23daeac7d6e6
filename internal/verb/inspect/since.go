package inspect

// This file compares a checkpoint with the one before it, for people who are shown it.

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
)

// Since is what a checkpoint changed.
type Since struct {
	State []StateChange // against the checkpoint before it, where that can be read
	Known bool          // it can be read
	Lines map[string]FileCount
}

// ChangesOf compares a checkpoint with the one before it, or the files of the first one with HEAD. What cannot be
// read is left out.
func ChangesOf(ctx context.Context, s *checkpoint.Service, d *checkpoint.Detail) *Since {
	since := &Since{}
	if rec := d.Record; rec.Previous != "" {
		found, err := s.Sessions.Resolve(ctx, string(rec.Session), string(rec.Previous))
		if err != nil {
			return since
		}
		was, err := checkpoint.ReadRecord(ctx, s.Store, found.Entry)
		if err != nil {
			return since
		}
		since.State, since.Known = stateChanges(ctx, s.Rules, found.State, was, rec), true
	}
	after, n := d.Record.Snapshot.Tree, d.Record.Files.Total()
	if after == "" || n == 0 || n > measurable {
		return since
	}
	before, err := treeBefore(ctx, s.Store, d.Record)
	if err != nil || before == "" {
		return since
	}
	counts, err := CountsBetween(ctx, s, before, after)
	if err != nil {
		return since
	}
	since.Lines = map[string]FileCount{}
	for _, f := range counts {
		since.Lines[f.Path] = f
	}
	return since
}
