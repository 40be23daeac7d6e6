package journal

// This file looks for tampering. A journal can be forged by leaving an event out, moving it or
// making one up. Such a change leaves traces: an event mentions a checkpoint that no ancestor
// introduces, or a create has a Previous that was not current when it was made. Doubts replays the
// journal and reports them.

import (
	"fmt"
	"slices"

	"git-checkpoint/internal/format/name"
)

// Doubt is an event that cannot have been written on top of its ancestors. Text is a clause about
// it, beginning with "it".
type Doubt struct {
	Event *Event
	Text  string
}

// doubting is the state of one check.
type doubting struct {
	*fold
	graph *graph
	found []Doubt
	now   liveness // the fold of the events before the present one, except for deaths
	next  int      // the index of the next of the fold's steps to apply to now
	// dead and pins hold, by entry, what the prunes and pins so far say.
	dead  []bool
	pins  map[int32][]int32
	where map[name.OID]int32 // finds the position of an event by its commit id; made when first needed
}

// Doubts checks every event against those before it and returns the ones that contradict them, in
// the order of the fold. Events that this version does not know are not checked.
func (s *State) Doubts() []Doubt {
	f := s.fold
	d := &doubting{fold: f, graph: f.graph(), dead: make([]bool, len(f.first)), pins: map[int32][]int32{}, now: f.nothing()}
	for i := range f.named {
		at := int32(i)
		if f.at(at).class == classCreate {
			d.create(at)
		} else if e := f.event(at); e != nil && e.known() {
			d.references(at, e)
			d.apply(at, e)
		}
	}
	return d.found
}

func (d *doubting) doubt(i int32, format string, args ...any) {
	d.found = append(d.found, Doubt{d.event(i), fmt.Sprintf(format, args...)})
}

// create checks a create event. Most events are creates, so this path avoids parsing the event and
// reads Previous only.
func (d *doubting) create(i int32) {
	previous := name.ID(d.log.text(d.log.position(int(i)), textPrevious))
	d.knew(i, previous)
	// Only the event that introduces a checkpoint follows the current one. A later event about the
	// same checkpoint repeats its Previous.
	if x := d.named[i]; d.first[x] == i {
		d.follows(i, previous)
	}
	d.apply(i, nil)
}

// references checks that the checkpoints and the event that e mentions are among its ancestors.
func (d *doubting) references(i int32, e *Event) {
	switch e.Kind {
	case KindRollback, KindUndo:
		d.knew(i, e.From)
		d.knew(i, e.To)
		d.knew(i, e.Safety)
	case KindPin, KindUnpin, KindResume:
		d.knew(i, e.Checkpoint)
	}
	if e.Kind == KindUndo && e.Undoes != "" {
		if d.where == nil {
			d.where = map[name.OID]int32{}
			for j := range d.named {
				if at := d.log.position(j); d.log.nodes[at].class != classMerge {
					d.where[d.log.oid(at)] = int32(j)
				}
			}
		}
		if j, ok := d.where[e.Undoes]; !ok || !d.descended(i, []int32{j}) {
			d.doubt(i, "it takes back %s, which is no event before it", e.Undoes.Short())
		}
	}
}

// knew checks that an ancestor of the event at position i introduces checkpoint id. An empty id is
// fine.
func (d *doubting) knew(i int32, id name.ID) {
	if id == "" {
		return
	}
	x := d.entry(id)
	if x < 0 || !d.descended(i, d.namings(x)) {
		d.doubt(i, "it speaks of %s, which no event before it names", id)
	}
}

// descended reports whether one of the positions is an ancestor of i.
func (d *doubting) descended(i int32, positions []int32) bool {
	return slices.ContainsFunc(positions, d.graph.ancestors(i))
}

// follows checks that a create names the checkpoint that was current before it. It can tell only if
// all events before i in the order are ancestors of i: the writer of i did not know the others.
func (d *doubting) follows(i int32, previous name.ID) {
	if d.graph.low[i] != i {
		return
	}
	var want name.ID
	if x := d.now.present(func(x int32) bool { return d.dead[x] }); x != none {
		want = d.id(x)
	}
	if previous == want {
		return
	}
	if previous == "" {
		d.doubt(i, "it follows no checkpoint, and %s was current before it", want)
	} else if want == "" {
		d.doubt(i, "it follows %s, and none was current before it", previous)
	} else {
		d.doubt(i, "it follows %s, and %s was current before it", previous, want)
	}
}

// apply lets the event at position i take effect. e is nil for a create.
func (d *doubting) apply(i int32, e *Event) {
	if d.next < len(d.steps) && d.steps[d.next].at == i {
		d.now.apply(none, &d.steps[d.next])
		d.next++
	} else if x := d.named[i]; x != none {
		d.now.apply(x, nil)
	}
	if e == nil {
		return
	}
	switch e.Kind {
	case KindPin:
		if x := d.entry(e.Checkpoint); x >= 0 {
			d.pins[x] = append(d.pins[x], i)
			d.dead[x] = false // the tombstone did not know this pin
		}
	case KindPrune:
		knew := d.graph.ancestors(i)
		for _, t := range e.Tombstones {
			if x := d.entry(t.ID); x >= 0 { // it takes effect if the prune knew every pin so far
				d.dead[x] = d.dead[x] || !slices.ContainsFunc(d.pins[x], func(pin int32) bool { return !knew(pin) })
			}
		}
	}
}
