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
	ErrNoPlace           = errors.New("no checkpoint was current when it was made")
	ErrDead              = errors.New("it was pruned")
	ErrNothingToUndo     = errors.New("this worktree made no rollback that could be undone")
)

// Plan describes the undo of one rollback or undo.
type Plan struct {
	Undoes           *Event
	From             name.ID   // current before the undo
	Target           name.ID   // current after it; empty: none
	Discard, Restore []name.ID // in the order of the fold
}

// RollbackPlan returns what a rollback to the files of a checkpoint makes current, what it leaves behind and
// what it makes live again, see listsTo. A safety checkpoint cannot become current: the target is then the
// checkpoint that was current when it was made, or what stands in for it. That may be dead by now; only the files
// of the safety checkpoint are needed.
func (s *State) RollbackPlan(id name.ID) (target name.ID, discard, restore []name.ID, err error) {
	c := s.Entry(id)
	switch {
	case c == nil:
		return "", nil, nil, fmt.Errorf("roll back to %q: %w", id, ErrUnknownCheckpoint)
	case c.Dead:
		return "", nil, nil, fmt.Errorf("roll back to %q: %w", id, ErrDead)
	}
	f, target := s.fold, id
	if c.Safety {
		target = s.StandIn(c.Event().Previous)
	}
	switch chosen := f.entry(target); {
	case chosen == none:
		return "", nil, nil, fmt.Errorf("roll back to %q: %w", id, ErrNoPlace)
	case chosen == unnamed:
		return "", nil, nil, fmt.Errorf("roll back to %q: its place is %q: %w", id, target, ErrUnknownCheckpoint)
	case f.node(int(chosen)).safety:
		return "", nil, nil, fmt.Errorf("roll back to %q: its place is %q: %w", id, target, ErrSafety)
	default:
		discard, restore = f.listsTo(chosen)
		return target, discard, restore, nil
	}
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
// The undo discards what v restored and what the worktree created in descendants of v, and restores
// what v discarded. What others made stays as it is, and what another head is built on.
func (s *State) PlanUndoOf(v *Event) (Plan, error) {
	f := s.fold
	index, ok := f.moves[v]
	if !ok {
		return Plan{}, ErrNothingToUndo
	}
	if v.Stays() { // so does its undo, whatever was made since
		return Plan{Undoes: v, From: s.Current, Target: s.Current}, nil
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
	out, back := f.created(f.graph().future(undone.at), v.WorktreeID), make([]bool, len(f.first))
	for _, x := range undone.restore {
		out[x], out[f.standIn(x)] = true, true
	}
	for _, x := range undone.discard {
		back[x], back[f.standIn(x)] = true, true
	}
	if target != none {
		out[target], back[target] = false, true
	}
	f.spare(out, target)
	now := f.replay()
	p := Plan{Undoes: v, From: s.Place, Target: from}
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

// created returns, by entry, what a create of the worktree at a marked position introduced, and what was
// rebuilt from that. A checkpoint that was only adopted there is not included: somebody else made it.
func (f *fold) created(mark []bool, worktreeID string) []bool {
	made := make([]bool, len(f.first))
	f.each(func(at, created int32, s *step) {
		switch {
		case !mark[at]:
		case s == nil:
			made[created] = f.at(at).worktree == worktreeID
		case s.event.Kind == KindRebuild:
			made[s.entry] = made[s.entry] || s.other >= 0 && made[s.other]
		}
	})
	return made
}
