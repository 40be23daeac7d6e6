package journal

import (
	"sort"

	"git-checkpoint/internal/name"
)

// none stands for no entry.
const none int32 = -1

// unnamed stands for a checkpoint that no event names.
const unnamed int32 = -2

// step is an event that changes what is live or current, and no create: that needs
// nothing but its entry.
type step struct {
	at    int32
	event *Event
	entry int32 // named, or gone to
	other int32 // adopt: previous; rebuild: the one that is replaced
	// What a rollback or undo really changes: of its lists, what was known to it.
	discard, restore []int32
}

// question is whether the event at some position knew an entry; if it did, the entry
// belongs into one of its step's lists.
type question struct {
	entry   int32
	step    int
	restore bool
}

// compile turns the events into steps. K(e) is settled here, once: a rollback and an
// undo change those of their lists which a create, adopt or rebuild among their
// ancestors names.
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

// each gives what changes what is live or current, in order: a step, or the entry that a
// create names.
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

// entry is the index of a checkpoint.
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

// list puts an entry into its step's list if the event knew it, drops it if it did
// not, and else appends to the questions that are open.
func (f *fold) list(open []question, q question) []question {
	if q.entry < 0 {
		return open
	}
	// The first naming is below all others, so it alone decides both cheap answers.
	switch f.graph().descends(f.steps[q.step].at, f.first[q.entry]) {
	case yes:
		f.known(q)
	case unsure:
		return append(open, q)
	}
	return open
}

func (f *fold) known(q question) {
	s := &f.steps[q.step]
	if q.restore {
		s.restore = append(s.restore, q.entry)
	} else {
		s.discard = append(s.discard, q.entry)
	}
}

// settle answers the open questions: one lane for each entry.
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

// liveness is what is known, live and current after some events.
type liveness struct {
	fold        *fold
	known, live []bool
	current     int32
}

// nothing is what is known before the first event.
func (f *fold) nothing() liveness {
	return liveness{fold: f, known: make([]bool, len(f.first)), live: make([]bool, len(f.first)), current: none}
}

// replay applies the events in order; with a mark only those whose position it holds.
func (f *fold) replay(mark []bool) liveness {
	n := f.nothing()
	f.each(func(at, created int32, s *step) {
		if mark == nil || int(at) < len(mark) && mark[at] {
			n.apply(created, s)
		}
	})
	return n
}

// apply lets a step or a create have its effect.
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
		// An adopt that follows the current checkpoint is current, and so is what replaces
		// the current one; else they move nothing.
		if n.live[s.entry] && s.other == n.current && (first || s.event.Kind == KindRebuild) {
			n.current = s.entry
		}
	}
}

// name makes a checkpoint known, and live the first time.
func (n *liveness) name(x int32) (first bool) {
	first = !n.known[x]
	n.known[x] = true
	if first {
		n.live[x] = !n.fold.node(int(x)).safety
	}
	return first
}

// move applies a rollback or an undo. An id in both lists comes back: what is kept
// too long can be discarded again.
func (n *liveness) move(s *step) {
	for _, x := range s.discard {
		n.live[x] = false
	}
	for _, x := range s.restore {
		n.live[x] = !n.fold.node(int(x)).safety
	}
	switch {
	case s.entry == none:
		n.current = none // the undo of a rollback that was made when none was current
	case s.entry == unnamed || !n.known[s.entry] || n.fold.node(int(s.entry)).safety:
		// Only a forged event has such a target; it can make nothing live.
	default:
		n.live[s.entry] = true
		n.current = s.entry
	}
}
