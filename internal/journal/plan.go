package journal

import (
	"errors"
	"fmt"

	"git-checkpoint/internal/name"
)

// Why a rollback or an undo has no plan.
var (
	ErrUnknownCheckpoint = errors.New("no event names the checkpoint")
	ErrSafety            = errors.New("it is a safety checkpoint")
	ErrNoSafety          = errors.New("it is no safety checkpoint")
	ErrNoPlace           = errors.New("no checkpoint was current when it was made")
	ErrDead              = errors.New("it was pruned")
	ErrNothingToUndo     = errors.New("this worktree made no rollback that could be undone")
)

// Plan is what an undo does.
type Plan struct {
	Undoes           *Event
	From             name.ID   // is current before
	Target           name.ID   // becomes current; empty when none was
	Safety           name.ID   // the checkpoint whose files come back
	Discard, Restore []name.ID // in the order of the fold
}

// RollbackPlan lists what a rollback to target discards and brings back. What the
// target's own moment knew gets the state that it had then; what came after it is
// discarded; what is concurrent and before it in the order stays as it is.
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
	// A rebuilt checkpoint stands where the broken one stood: counted from the repair,
	// all that was made before the repair would stay.
	chosen := f.entry(target)
	discard, restore = f.listsAt(f.first[f.originals()[chosen]], chosen)
	return discard, restore, nil
}

// SafetyPlan lists what a rollback to the files of a safety checkpoint discards and brings
// back: what the checkpoint's own moment knew gets the state that it had then. The target
// is what was current at that moment, which may be dead by now.
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

// listsAt gives what changes when all that the event at anchor knew gets the state that it
// had then, and what comes after it in the order is discarded; chosen is live in any case.
func (f *fold) listsAt(anchor, chosen int32) (discard, restore []name.ID) {
	originals := f.originals()
	then := f.replay(f.graph().past(anchor))
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

// UndoCandidates are the last rollback or undo of each worktree, newest first: what
// to choose from when a worktree lost its id.
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

// PlanUndoOf takes back v, a rollback or undo of this journal: its from is the
// target; what it brought back and what was created descending from it is discarded,
// what it discarded comes back. Work that is concurrent with v stays, and so does
// what someone else changed back already: the lists hold differences only, so that
// the undo of the undo is exact.
func (s *State) PlanUndoOf(v *Event) (Plan, error) {
	f := s.fold
	index, ok := f.moves[v]
	if !ok {
		return Plan{}, ErrNothingToUndo
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

// created marks the entries that a create at a marked position names, and what was
// rebuilt from these; what was merely adopted there is the work of someone else.
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

// originals follows each rebuilt entry to the one that broke first, others are their
// own. It goes only to what was named before: a forged circle would have no end.
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
