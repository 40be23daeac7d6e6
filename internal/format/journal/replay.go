package journal

// This file applies events to the set of live checkpoints and to the current one. An event may list
// checkpoints that its writer had not seen yet, in a forged or damaged journal or because a clone
// lacks the events that introduced them. The rule of docs/format.md is that a rollback or undo
// changes only what an ancestor of it introduces (the set K(e)). compile settles that once, so that
// a replay needs no questions about ancestors.

import (
	"slices"

	"git-checkpoint/internal/format/name"
)

// none stands for no checkpoint or entry.
const none int32 = -1

// unnamed stands for a checkpoint that no event introduces.
const unnamed int32 = -2

// step is the effect of an adopt, a rebuild, a rollback or an undo. Creates need no step: their
// effect follows from the entry alone.
type step struct {
	at               int32 // position
	event            *Event
	entry            int32   // the checkpoint that is introduced, or the target To
	other            int32   // adopt: Previous; rebuild: RebuiltFrom
	discard, restore []int32 // the lists of a rollback or undo, without entries that its writer did not know
}

// compile fills in steps and moves. A rollback or undo changes only those of its lists that a
// create, adopt or rebuild among its ancestors introduces.
func (f *fold) compile() {
	f.moves = map[*Event]int{}
	for i, x := range f.named {
		at := int32(i)
		switch e := f.at(at).special(); {
		case e == nil:
		case e.names():
			other := f.entry(e.Previous)
			if e.Kind == KindRebuild {
				other = f.entry(e.RebuiltFrom)
			}
			f.steps = append(f.steps, step{at: at, event: e, entry: x, other: other})
		case e.moves():
			f.moves[e] = len(f.steps)
			knew := f.graph().ancestors(at)
			f.steps = append(f.steps, step{at: at, event: e, entry: f.entry(e.To), discard: f.known(e.Discard, knew), restore: f.known(e.Restore, knew)})
		}
	}
}

// known returns the entries of those ids that an event introduces for which knew is true.
func (f *fold) known(ids []name.ID, knew func(int32) bool) []int32 {
	var known []int32
	for _, id := range ids {
		if x := f.entry(id); x >= 0 && slices.ContainsFunc(f.namings(x), knew) {
			known = append(known, x)
		}
	}
	return known
}

// each visits everything that changes what is live or current, in order: a step, or the entry that
// a create introduces, with a nil step.
func (f *fold) each(visit func(at, created int32, s *step)) {
	next := 0
	for i, x := range f.named {
		at := int32(i)
		if next < len(f.steps) && f.steps[next].at == at {
			visit(at, none, &f.steps[next])
			next++
		} else if x != none {
			visit(at, x, nil)
		}
	}
}

// entry returns the entry of a checkpoint, none for an empty id, and unnamed if no event introduces
// it.
func (f *fold) entry(id name.ID) int32 {
	if id == "" {
		return none
	}
	hash := hashOf(id)
	x, _ := f.ids.find(hash, func(x int32) bool {
		return f.node(int(x)).hash == hash && f.id(x) == id
	})
	if x != none {
		return x
	}
	return unnamed
}

// liveness is the state after some of the events: by entry, what is known and what is live; and
// what is current. It does not consider tombstones.
type liveness struct {
	fold        *fold
	known, live []bool
	current     int32
}

// nothing returns the state before the first event.
func (f *fold) nothing() liveness {
	return liveness{fold: f, known: make([]bool, len(f.first)), live: make([]bool, len(f.first)), current: none}
}

// present returns the entry that is current, as the fold says it: the one that the events made
// current, unless it is dead. Then, or if they made none current, it is the newest live one before
// it, else the newest live one, else none.
func (n *liveness) present(dead func(x int32) bool) int32 {
	if n.current != none && !dead(n.current) {
		return n.current
	}
	newest, before := none, none
	for i, live := range n.live {
		if x := int32(i); live && !dead(x) {
			if newest = x; x < n.current {
				before = x
			}
		}
	}
	if before != none {
		return before
	}
	return newest
}

// replay applies the events in order and returns the state after the last one.
func (f *fold) replay() liveness {
	n := f.nothing()
	f.each(func(_, created int32, s *step) { n.apply(created, s) })
	return n
}

// apply applies a step, or if s is nil a create of the given entry.
func (n *liveness) apply(created int32, s *step) {
	switch {
	case s == nil:
		if n.name(created); n.live[created] {
			n.current = created
		}
	case s.event.moves():
		n.move(s)
	default:
		first := n.name(s.entry)
		// A rebuild of the current checkpoint takes its place. So does an adopt whose Previous is
		// current: that is a create whose event was lost. Others do not change what is current.
		if n.live[s.entry] && s.other == n.current && (first || s.event.Kind == KindRebuild) {
			n.current = s.entry
		}
	}
}

// name makes entry x known, and live if it was not known before. It reports whether it was new.
func (n *liveness) name(x int32) (first bool) {
	first = !n.known[x]
	n.known[x] = true
	if first {
		n.live[x] = !n.fold.node(int(x)).safety
	}
	return first
}

// move applies a rollback or an undo. An id that is in both lists becomes live, which is the safe
// side: a checkpoint that is kept by mistake can be discarded again.
func (n *liveness) move(s *step) {
	for _, x := range s.discard {
		n.live[x] = false
	}
	for _, x := range s.restore {
		n.live[x] = !n.fold.node(int(x)).safety
	}
	switch {
	case s.event.Stays():
	case s.entry == none:
		n.current = none // an undo of a rollback that was made when nothing was current
	case s.entry == unnamed || !n.known[s.entry] || n.fold.node(int(s.entry)).safety:
		// Only a forged event has such a target; it can make nothing live.
	default:
		n.live[s.entry] = true
		n.current = s.entry
	}
}
