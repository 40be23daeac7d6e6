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
	"git-checkpoint/internal/format/name"
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

// IsOver reports whether a session is finished: it was closed, or its workflow completed, or all of
// its checkpoints were pruned. A session whose definition cannot be read counts as not finished.
func IsOver(ctx context.Context, s *Rules, st *journal.State) bool {
	if IsClosed(st.Status) {
		return true
	}
	if st.NewestEntry() == nil {
		// A new session without checkpoints is not over; one with tombstones had some, and they are
		// gone.
		return len(st.Tombstones) > 0
	}
	def, err := s.DefinitionFor(ctx, st)
	if err != nil {
		return false
	}
	status := st.NewestEntry().Event().CheckpointStatus
	return status == "complete" || def.Statuses.Closes[status] == "complete"
}

// StatusOf returns the status of a session for people: the status it was closed with, else what the
// workflow's definition maps the current checkpoint's status to, else the status that was set for
// the session, else the checkpoint's own.
func StatusOf(ctx context.Context, s *Rules, st *journal.State) string {
	e := st.NewestEntry()
	if e == nil && len(st.Tombstones) > 0 { // all were pruned: the journal tells how the last one stood
		for i, c := range st.Backward() {
			if !c.Safety && !c.Discarded {
				e = st.At(i)
				break
			}
		}
	}
	if IsClosed(st.Status) || e == nil {
		return cmp.Or(st.Status, StatusOpen)
	}
	status := e.Event().CheckpointStatus
	if def, err := s.DefinitionFor(ctx, st); err == nil {
		if def.Mended(workflow.Situation{Status: status, Resumed: IsResumed(st, e.Checkpoint)}) {
			return StatusOpen
		}
		if over := def.Statuses.Closes[status]; over != "" {
			return over
		}
	}
	if st.Status != "" && st.Status != StatusOpen {
		return st.Status
	}
	return cmp.Or(status, StatusOpen)
}

// IsResumed reports whether work was resumed from a checkpoint, and nothing happened since.
func IsResumed(st *journal.State, id name.ID) bool {
	return st.Resumed != nil && st.Resumed.Checkpoint == id
}

// IsOfType reports whether the session's name, or the type of work in its current state, begins
// with prefix.
func IsOfType(ctx context.Context, s *Rules, st *journal.State, prefix string) bool {
	return strings.HasPrefix(string(st.Session), prefix) || strings.HasPrefix(FactsOf(ctx, s, st).Type, prefix)
}

// FactsOf returns what the state of the session's current checkpoint says about the job: type,
// topic and so on. It returns zero Facts when the record, the definition or the state cannot be
// read.
func FactsOf(ctx context.Context, s *Rules, st *journal.State) workflow.Facts {
	e := st.NewestEntry()
	def, err := s.DefinitionFor(ctx, st)
	if err != nil || e == nil {
		return workflow.Facts{}
	}
	rec, err := ReadRecord(ctx, s.Store, e)
	if err != nil {
		return workflow.Facts{}
	}
	facts, _ := def.Read(rec.State) //nolint:errcheck // there are none then
	return facts
}

// TopicOf returns the topic that the session was started with, else the topic in its current state,
// else what an agent was asked first, else "".
func TopicOf(ctx context.Context, s *Rules, st *journal.State) string {
	if st.Topic != "" {
		return st.Topic
	}
	def, err := s.DefinitionFor(ctx, st)
	if err != nil || def.State.Members.Topic == "" {
		return firstPrompt(ctx, s.Store, st)
	}
	return FactsOf(ctx, s, st).Topic
}

// TopicIn returns the topic that a state document names, or "". The definition says in which member
// it is.
func TopicIn(def *workflow.Definition, state json.RawMessage) string {
	facts, _ := def.Read(state) //nolint:errcheck // there are none then
	return facts.Topic
}
