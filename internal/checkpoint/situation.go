package checkpoint

import (
	"cmp"
	"slices"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/workflow"
)

// Situation is a checkpoint as its workflow looks at it.
func (s *Service) Situation(st *journal.State, rec *record.Record) workflow.Situation {
	in := workflow.Situation{
		Session: string(st.Session), State: rec.State, Status: rec.Status, Error: rec.Error, Age: s.Now().Sub(rec.CreatedAt),
		Place: workflow.Place{Step: rec.Step, Name: rec.StepName, Iteration: rec.Iteration, Milestone: rec.Milestone},
	}
	last := st.Len()
	if e := st.Entry(rec.ID); e != nil {
		last = e.Place // what came later was not done there
	}
	in.Live, in.Named = FinishedSteps(st, func(i int, c journal.Standing) bool { return c.Live && i <= last })
	for n := range st.Skipped {
		in.Skipped = append(in.Skipped, n)
	}
	return in
}

// FinishedSteps are those that checkpoints which are done have finished, and what a step is called.
func FinishedSteps(st *journal.State, done func(int, journal.Standing) bool) (finished []int, named func(int) string) {
	type place struct{ step, at int }
	var places []place
	for i, c := range st.Standings() {
		if c.Milestone && done(i, c) {
			finished, places = append(finished, c.Step), append(places, place{c.Step, i})
		}
	}
	byStep := func(a, b place) int { return cmp.Compare(a.step, b.step) }
	if !slices.IsSortedFunc(places, byStep) {
		slices.SortStableFunc(places, byStep)
	}
	return finished, func(step int) string {
		next, _ := slices.BinarySearchFunc(places, step+1, func(p place, step int) int { return cmp.Compare(p.step, step) })
		if next == 0 || places[next-1].step != step {
			return ""
		}
		return st.StepName(places[next-1].at) // that of the newest
	}
}
