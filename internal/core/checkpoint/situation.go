package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
)

// Situation describes a checkpoint for its workflow: state, status, age, and which steps were
// finished or skipped when it was made. The workflow's rules and suggestions are computed from it.
// Which files changed since then is left to the caller, who may not need it.
func Situation(s *store.Store, st *journal.State, rec *record.Record) workflow.Situation {
	in := workflow.Situation{
		Session: string(st.Session), State: rec.State, Status: rec.Status, Error: rec.Error, Age: s.Now().Sub(rec.CreatedAt),
		Branch: strings.TrimPrefix(string(rec.Git.Branch), "refs/heads/"),
		Place:  workflow.Place{Step: rec.Step, Name: rec.StepName, Iteration: rec.Iteration, Milestone: rec.Milestone},
	}
	in.Resumed = IsResumed(st, rec.ID)
	last := st.Len()
	if e := st.Entry(rec.ID); e != nil {
		last = e.Place // steps finished later were not finished at this checkpoint
	}
	in.Live, in.Named = FinishedSteps(st, func(i int, c journal.Standing) bool { return c.Live && i <= last })
	in.Skipped, in.Highest = slices.Collect(maps.Keys(st.Skipped)), st.Highest()
	return in
}

// Former returns the state of the newest checkpoint before e that had another status, for the
// variable `former` of a definition. It returns nil if the definition does not use it, or if there is
// none that can be read.
func Former(ctx context.Context, s *store.Store, def *workflow.Definition, st *journal.State, e *journal.Entry) json.RawMessage {
	if e == nil || !def.AsksFormer() {
		return nil
	}
	for earlier := range st.LineTo(e) {
		if earlier.Event().CheckpointStatus == e.Event().CheckpointStatus {
			continue
		}
		rec, err := ReadRecord(ctx, s, earlier)
		if err != nil {
			return nil
		}
		return rec.State
	}
	return nil
}

// FinishedSteps returns the steps of the milestones for which done is true, once for each
// milestone, in ascending order. The function named returns the name of such a step: that of its
// newest milestone, or "" for a step that is not finished.
func FinishedSteps(st *journal.State, done func(int, journal.Standing) bool) (finished []int, named func(int) string) {
	type place struct{ step, at int }
	// at is the position of the checkpoint in the journal's order.
	var places []place
	for i, c := range st.Standings() {
		if c.Milestone && done(i, c) {
			finished, places = append(finished, c.Step), append(places, place{c.Step, i})
		}
	}
	byStep := func(a, b place) int { return cmp.Compare(a.step, b.step) }
	if !slices.IsSortedFunc(places, byStep) {
		slices.SortStableFunc(places, byStep)
		// A binary search, because callers ask for every step of sessions with thousands of
		// checkpoints.
	}
	return finished, func(step int) string {
		next, _ := slices.BinarySearchFunc(places, step+1, func(p place, step int) int { return cmp.Compare(p.step, step) })
		if next == 0 || places[next-1].step != step {
			return ""
		}
		return st.StepName(places[next-1].at) // the newest milestone's name
	}
}
