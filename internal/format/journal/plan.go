package journal

// This file computes what a rollback or undo has to write into its lists, Discard and Restore. The
// plan is made once, by the writer; the event records the result, and the fold applies it as it is.
// The lists hold differences to the present state only, so that the undo of an undo is exact.

import (
	"errors"
	"fmt"

	"git-checkpoint/internal/format/name"
)

// Reasons why a rollback or an undo is impossible.
var (
	ErrUnknownCheckpoint = errors.New("no event names the checkpoint")
	ErrSafety            = errors.New("it is a safety checkpoint")
	ErrNoSafety          = errors.New("it is no safety checkpoint")
	ErrNoPlace           = errors.New("no checkpoint was current when it was made")
	ErrDead              = errors.New("it was pruned")
	ErrNothingToUndo     = errors.New("this worktree made no rollback that could be undone")
)

// Plan describes the undo of one rollback or undo.
type Plan struct {
	Undoes           *Event
	From             name.ID   // current before the undo
	Target           name.ID   // current after it; empty: none
	Safety           name.ID   // the safety checkpoint that holds the files to bring back
	Discard, Restore []name.ID // in the order of the fold
}

// RollbackPlan returns what a rollback to target discards and what it makes live again. Checkpoints
// that existed when target was made get the state that they had then. Later ones are discarded.
// Those that are concurrent with target and before it in the order stay as they are.
func (s *State) RollbackPlan(target name.ID) (discard, restore []name.ID, err error) {
	c := s.Entry(target)
	switch {
	case c == nil:
		return nil, nil, fmt.Errorf("roll back to %q: %w", target, ErrUnknownCheckpoint)
	case c.Safety:
		return nil, nil, fmt.Errorf("roll back to %q: %w", target, ErrSafety)
	case c.Dead:
		return nil, nil, fmt.Errorf("roll back to %q: %w", target, ErrDead)
	}
	f := s.fold
	// A rebuilt checkpoint takes the place of the damaged one. Counted from the rebuild event,
	// everything that was made between the original and the rebuild would stay live.
	chosen := f.entry(target)
	discard, restore = f.listsAt(f.first[f.originals()[chosen]], chosen)
	return discard, restore, nil
}

// SafetyPlan returns the plan of a rollback to the files of a safety checkpoint. A safety
// checkpoint cannot become current, so target is the checkpoint that was current when it was made,
// or what stands in for it. The lists are as in RollbackPlan, counted from the moment of the safety
// checkpoint. The target may be dead by now; only the files of the safety checkpoint are needed.
func (s *State) SafetyPlan(safety name.ID) (target name.ID, discard, restore []name.ID, err error) {
	c := s.Entry(safety)
	switch {
	case c == nil:
		return "", nil, nil, fmt.Errorf("roll back to %q: %w", safety, ErrUnknownCheckpoint)
	case !c.Safety:
		return "", nil, nil, fmt.Errorf("roll back to %q: %w", safety, ErrNoSafety)
	case c.Dead:
		return "", nil, nil, fmt.Errorf("roll back to %q: %w", safety, ErrDead)
	}
	f := s.fold
	target = s.StandIn(c.Event().Previous)
	chosen := f.entry(target)
	switch {
	case chosen == none:
		return "", nil, nil, fmt.Errorf("roll back to %q: %w", safety, ErrNoPlace)
	case chosen == unnamed:
		return "", nil, nil, fmt.Errorf("roll back to %q: its place is %q: %w", safety, target, ErrUnknownCheckpoint)
	case f.node(int(chosen)).safety:
		return "", nil, nil, fmt.Errorf("roll back to %q: its place is %q: %w", safety, target, ErrSafety)
	}
	discard, restore = f.listsAt(f.first[f.entry(safety)], chosen)
	return target, discard, restore, nil
}

// listsAt returns the differences between the present state and the wanted one. Wanted is the state
// just after the event at position anchor, for everything that it knew. What comes after anchor in
// the order is discarded. chosen becomes live in any case.
func (f *fold) listsAt(anchor, chosen int32) (discard, restore []name.ID) {
	originals := f.originals()
	knew := f.graph().ancestors(anchor)
	then := f.replay(func(at int32) bool { return at == anchor || knew(at) })
	now := f.replay(nil)
	for i := range f.first {
		x := int32(i)
		if f.node(i).safety {
			continue
		}
		want := now.live[x]
		switch o := originals[x]; {
		case x == chosen:
			want = true
		case then.known[x]:
			want = then.live[x]
		// x was rebuilt after anchor. It takes the state of the checkpoint that it replaces.
		case then.known[o]:
			want = then.live[o]
		case f.first[o] > anchor:
			want = false
		}
		switch {
		case now.live[x] && !want:
			discard = append(discard, f.id(x))
		case !now.live[x] && want:
			restore = append(restore, f.id(x))
		}
	}
	return discard, restore
}

// UndoCandidates returns the last rollback or undo of each worktree, newest first. A worktree that
// lost its id lets the user choose from these.
func (s *State) UndoCandidates() []*Event {
	var candidates []*Event
	seen := map[string]bool{}
	for i := len(s.Rollbacks) - 1; i >= 0; i-- {
		if e := s.Rollbacks[i]; !seen[e.WorktreeID] {
			seen[e.WorktreeID] = true
			candidates = append(candidates, e)
		}
	}
	return candidates
}

// PlanUndoOf plans the undo of v, a rollback or undo of this journal. The target is the From of v.
// The undo discards what v restored and what was created in descendants of v, and restores what v
// discarded. Work that is concurrent with v stays as it is.
func (s *State) PlanUndoOf(v *Event) (Plan, error) {
	f := s.fold
	index, ok := f.moves[v]
	if !ok {
		return Plan{}, ErrNothingToUndo
	}
	if v.Stays() { // so does its undo, whatever was made since
		return Plan{Undoes: v, From: s.Current, Target: s.Current, Safety: s.StandIn(v.Safety)}, nil
	}
	undone := &f.steps[index]
	from := s.StandIn(v.From)
	target := f.entry(from)
	switch {
	case target == unnamed:
		return Plan{}, fmt.Errorf("undo %s: go back to %q: %w", v.OID.Short(), v.From, ErrUnknownCheckpoint)
	case target != none && f.node(int(target)).safety:
		return Plan{}, fmt.Errorf("undo %s: go back to %q: %w", v.OID.Short(), v.From, ErrSafety)
	}
	out, back := f.created(f.graph().future(undone.at)), make([]bool, len(f.first))
	for _, x := range undone.restore {
		out[x], out[f.standIn(x)] = true, true
	}
	for _, x := range undone.discard {
		back[x], back[f.standIn(x)] = true, true
	}
	if target != none {
		out[target], back[target] = false, true
	}
	now := f.replay(nil)
	p := Plan{Undoes: v, From: s.Current, Target: from, Safety: s.StandIn(v.Safety)}
	for i := range f.first {
		x := int32(i)
		switch {
		case f.node(i).safety:
		case out[x] && now.live[x]:
			p.Discard = append(p.Discard, f.id(x))
		case back[x] && !now.live[x]:
			p.Restore = append(p.Restore, f.id(x))
		}
	}
	return p, nil
}

// created returns, by entry, what a create at a marked position introduced, and what was rebuilt
// from that. A checkpoint that was only adopted there is not included: somebody else made it.
func (f *fold) created(mark []bool) []bool {
	made := make([]bool, len(f.first))
	f.each(func(at, created int32, s *step) {
		switch {
		case !mark[at]:
		case s == nil:
			made[created] = true
		case s.event.Kind == KindRebuild:
			made[s.entry] = made[s.entry] || s.other >= 0 && made[s.other]
		}
	})
	return made
}

// originals returns for each entry the one that it was rebuilt from, over any number of rebuilds;
// an entry that was not rebuilt is its own original. It only follows links to earlier entries,
// because a forged journal may have a cycle.
func (f *fold) originals() []int32 {
	all := make([]int32, len(f.first))
	for x := range all {
		all[x] = int32(x)
		e := f.node(x).special()
		if e == nil || e.Kind != KindRebuild {
			continue
		}
		if o := f.entry(e.RebuiltFrom); o >= 0 && o < int32(x) {
			all[x] = all[o]
		}
	}
	return all
}
