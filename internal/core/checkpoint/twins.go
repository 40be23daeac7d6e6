package checkpoint

import (
	"cmp"
	"slices"
	"strconv"

	"git-checkpoint/internal/format/journal"
)

// twins returns the live checkpoints of a step, or the safety checkpoints if e is one, for which same is true: the one
// that a user named, and those of other clones that took the same number before they knew of it. A checkpoint that another one was
// rebuilt from is not among them.
func twins(st *journal.State, e *journal.Entry, same func(*journal.Entry) bool) (all []*journal.Entry) {
	for i, c := range st.Standings() {
		if c.Step != e.Step || c.Milestone != e.Milestone || !(c.Live || e.Safety && c.Safety && !c.Dead) {
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

// byNumber is numberedHere, unless the number is kept.
func byNumber(st *journal.State, ref string) *journal.Entry {
	return unlessKept(st, numberedHere(st, ref))
}

// byLabel finds the newest checkpoint with a label, unless its number is kept.
func byLabel(st *journal.State, ref string) *journal.Entry { return unlessKept(st, st.Labelled(ref)) }

// unlessKept returns e, but nil where its number stays with what this worktree made and left behind, as it was shown: what
// came from another line since has it with the end of its id.
func unlessKept(st *journal.State, e *journal.Entry) *journal.Entry {
	if e == nil || st.Place == "" || st.IsOwn(e) {
		return e
	}
	for i, c := range st.Standings() {
		if c.Discarded && c.Step == e.Step && st.IsOwn(st.At(i)) && numberOf(st.At(i)) == numberOf(e) && !st.CurrentLine()[e.Place] {
			return nil
		}
	}
	return e
}

// numberedHere finds a step's newest live milestone by "3" or "6.2", and a checkpoint that is not a
// milestone by "3+1". One on the line here comes before those of other lines.
func numberedHere(st *journal.State, ref string) *journal.Entry {
	m := numberPattern().FindStringSubmatch(ref)
	if m == nil {
		return nil
	}
	step, err := strconv.Atoi(m[1])
	if err != nil {
		return nil // it may still be a prefix
	}
	var here []bool // nil: there is one line only
	if st.Place != "" && len(st.Heads()) > 1 {
		here = st.CurrentLine()
	}
	// If "6.1" was asked for and no milestone of step 6 has iteration 1, the first one was made
	// without an iteration.
	var first, elsewhere *journal.Entry
	for i, c := range st.Backward() {
		if c.Step != step || !(c.Live || m[3] != "" && c.Safety && !c.Dead) || !isNumbered(st.At(i), m) {
			continue
		}
		e := st.At(i)
		exact := m[3] != "" || m[2] == "" || e.Event().Iteration == m[2]
		switch {
		case here != nil && !here[i]:
			if elsewhere == nil {
				elsewhere = e
			}
		case exact:
			return e
		case first == nil:
			first = e
		}
	}
	return cmp.Or(first, elsewhere)
}
