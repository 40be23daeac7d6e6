package journal

import (
	"sort"

	"git-checkpoint/internal/name"
)

// none stands for no entry.
const none int32 = -1

// unnamed stands for a checkpoint that no event names.
const unnamed int32 = -2

// step is an event that changes what is live or current.
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
	f.steps = make([]step, 0, len(f.events))
	f.moves = map[*Event]int{}
	var open []question
	for i, e := range f.events {
		switch {
		case e == nil:
		case e.names():
			other := none // a create asks for no other
			switch e.Kind {
			case KindAdopt:
				other = f.entry(e.Previous)
			case KindRebuild:
				other = f.entry(e.RebuiltFrom)
			}
			f.steps = append(f.steps, step{at: int32(i), event: e, entry: f.named[i], other: other})
		case e.moves():
			f.moves[e] = len(f.steps)
			f.steps = append(f.steps, step{at: int32(i), event: e, entry: f.entry(e.To)})
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

// entry is the index of a checkpoint.
func (f *fold) entry(id name.ID) int32 {
	if id == "" {
		return none
	}
	if x, ok := f.ids[id]; ok {
		return x
	}
	if id == f.newest {
		return int32(len(f.first)) - 1
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
	switch f.graph.descends(f.steps[q.step].at, f.first[q.entry]) {
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
	f.graph.sweep(lanes, func(first, count int, reached func(int32) uint64) {
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
	known, live []bool
	current     int32
}

// replay applies the steps in order; with a mark only those whose position it holds.
func (f *fold) replay(mark []bool) liveness {
	n := liveness{known: make([]bool, len(f.first)), live: make([]bool, len(f.first)), current: none}
	for i := range f.steps {
		s := &f.steps[i]
		switch {
		case mark != nil && (int(s.at) >= len(mark) || !mark[s.at]):
		case s.event.moves():
			n.move(s, f.safety)
		default:
			n.name(s, f.safety)
		}
	}
	return n
}

// name applies a create, adopt or rebuild.
func (n *liveness) name(s *step, safety []bool) {
	first := !n.known[s.entry]
	n.known[s.entry] = true
	if safety[s.entry] {
		return
	}
	if first {
		n.live[s.entry] = true
	}
	if !n.live[s.entry] {
		return
	}
	switch s.event.Kind {
	case KindCreate:
		n.current = s.entry
	case KindAdopt:
		if first && s.other == n.current {
			n.current = s.entry
		}
	case KindRebuild:
		// What replaces the current checkpoint is current; else a rebuild moves nothing.
		if s.other == n.current {
			n.current = s.entry
		}
	}
}

// move applies a rollback or an undo. An id in both lists comes back: what is kept
// too long can be discarded again.
func (n *liveness) move(s *step, safety []bool) {
	for _, x := range s.discard {
		n.live[x] = false
	}
	for _, x := range s.restore {
		n.live[x] = !safety[x]
	}
	switch {
	case s.entry == none:
		n.current = none // the undo of a rollback that was made when none was current
	case s.entry == unnamed || !n.known[s.entry] || safety[s.entry]:
		// Only a forged event has such a target; it can make nothing live.
	default:
		n.live[s.entry] = true
		n.current = s.entry
	}
}
