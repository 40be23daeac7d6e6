package journal

// This file applies events to the set of live checkpoints and to the current one. An event may list
// checkpoints that its writer had not seen yet, in a forged or damaged journal or because a clone
// lacks the events that introduced them. The rule of docs/format.md is that a rollback or undo
// changes only what an ancestor of it introduces (the set K(e)). compile settles that once, so that
// a replay needs no questions about ancestors.

import (
	"sort"

	"git-checkpoint/internal/name"
)

// none stands for no checkpoint or entry.
const none int32 = -1

// unnamed stands for a checkpoint that no event introduces.
const unnamed int32 = -2

// step is the effect of an adopt, a rebuild, a rollback or an undo. Creates need no step: their
// effect follows from the entry alone.
type step struct {
	at    int32 // position
	event *Event
	entry int32 // the checkpoint that is introduced, or the target To
	other int32 // adopt: Previous; rebuild: RebuiltFrom
	// The lists of a rollback or undo, without entries that its writer did not know.
	discard, restore []int32
}

// question asks whether the event of a step knew an entry. If it did, the entry goes into the
// step's restore or discard list.
type question struct {
	entry   int32
	step    int
	restore bool
}

// compile fills in steps and moves. A rollback or undo changes only those of its lists that a
// create, adopt or rebuild among its ancestors introduces.
func (f *fold) compile() {
	f.moves = map[*Event]int{}
	var open []question
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
			f.steps = append(f.steps, step{at: at, event: e, entry: f.entry(e.To)})
			for _, id := range e.Discard {
				open = f.list(open, question{f.entry(id), len(f.steps) - 1, false})
			}
			for _, id := range e.Restore {
				open = f.list(open, question{f.entry(id), len(f.steps) - 1, true})
			}
		}
	}
	f.settle(open)
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
	x := f.ids.find(hash, func(x int32) bool {
		return f.node(int(x)).hash == hash && f.log.is(f.naming(int(x)), textCheckpoint, string(id))
	})
	if x != none {
		return x
	}
	return unnamed
}

// list answers a question if the graph's bounds can, and otherwise appends it to open.
func (f *fold) list(open []question, q question) []question {
	if q.entry < 0 {
		return open
	}
	// The first position that names the entry is the smallest. If the bounds say no for it, they
	// say no for all of them.
	switch f.graph().descends(f.steps[q.step].at, f.first[q.entry]) {
	case yes:
		f.known(q)
	case unsure:
		return append(open, q)
	}
	return open
}

// known puts the entry of a question into its step's list.
func (f *fold) known(q question) {
	s := &f.steps[q.step]
	if q.restore {
		s.restore = append(s.restore, q.entry)
	} else {
		s.discard = append(s.discard, q.entry)
	}
}

// settle answers the open questions by one sweep of the graph, with one lane for each entry.
func (f *fold) settle(open []question) {
	if len(open) == 0 {
		return
	}
	sort.SliceStable(open, func(i, j int) bool { return open[i].entry < open[j].entry })
	var lanes []lane
	var starts []int
	for i, q := range open {
		if i == 0 || open[i-1].entry != q.entry {
			lanes = append(lanes, lane{sources: f.namings(q.entry)})
			starts = append(starts, i)
		}
		l := &lanes[len(lanes)-1]
		l.until = max(l.until, f.steps[q.step].at)
	}
	starts = append(starts, len(open))
	f.graph().sweep(lanes, func(first, count int, reached func(int32) uint64) {
		for bit := range count {
			for _, q := range open[starts[first+bit]:starts[first+bit+1]] {
				if reached(f.steps[q.step].at)&(1<<bit) != 0 {
					f.known(q)
				}
			}
		}
	})
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

// replay applies the events in order and returns the state after the last one. If mark is not nil,
// it applies only events at the positions that mark has.
func (f *fold) replay(mark []bool) liveness {
	n := f.nothing()
	f.each(func(at, created int32, s *step) {
		if mark == nil || int(at) < len(mark) && mark[at] {
			n.apply(created, s)
		}
	})
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
	case s.entry == none:
		n.current = none // an undo of a rollback that was made when nothing was current
	// Only a forged event has such a target. It must not make anything live.
	case s.entry == unnamed || !n.known[s.entry] || n.fold.node(int(s.entry)).safety:
		// Only a forged event has such a target; it can make nothing live.
	default:
		n.live[s.entry] = true
		n.current = s.entry
	}
}
