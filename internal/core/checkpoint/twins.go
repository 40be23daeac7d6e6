package checkpoint

import (
	"slices"

	"git-checkpoint/internal/format/journal"
)

// twins returns the live checkpoints of a step for which same is true: the one that a user named, and those
// of other clones that took the same number before they knew of it. A checkpoint that another one was
// rebuilt from is not among them.
func twins(st *journal.State, e *journal.Entry, same func(*journal.Entry) bool) (all []*journal.Entry) {
	for i, c := range st.Standings() {
		if c.Step != e.Step || c.Milestone != e.Milestone || !c.Live {
			continue
		}
		if t := st.At(i); same(t) {
			all = append(all, t)
		}
	}
	return slices.DeleteFunc(all, func(t *journal.Entry) bool {
		return slices.ContainsFunc(all, func(r *journal.Entry) bool { return r.Event().RebuiltFrom == t.Checkpoint })
	})
}

// numbered returns the live checkpoints that have the number of e.
func numbered(st *journal.State, e *journal.Entry) []*journal.Entry {
	if !e.Milestone {
		return labelled(st, e)
	}
	return twins(st, e, func(t *journal.Entry) bool { return iteration(t) == iteration(e) })
}

// labelled returns the live checkpoints that have the label of e.
func labelled(st *journal.State, e *journal.Entry) []*journal.Entry {
	return twins(st, e, func(t *journal.Entry) bool { return t.Label == e.Label })
}

// iteration returns that of a milestone. The first one of a step has none, or FirstIteration.
func iteration(e *journal.Entry) string {
	if own := e.Event().Iteration; own != "" {
		return own
	}
	return FirstIteration
}
