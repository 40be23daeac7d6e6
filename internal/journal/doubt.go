package journal

import (
	"fmt"

	"git-checkpoint/internal/name"
)

// Doubt is an event that cannot have been written on top of the events before it: one
// of these was left out, put elsewhere or made up.
type Doubt struct {
	Event *Event
	Text  string
}

// maxWalks bounds how often the past of one event is walked: only events that are
// concurrent with what they name need it.
const maxWalks = 512

// doubting holds each event against what its ancestors say.
type doubting struct {
	*fold
	graph *graph
	found []Doubt
	now   liveness
	next  int // step
	dead  []bool
	pins  map[int32][]int32
	vague bool // what is dead depends on concurrent events, so what is current is not asked
	where map[name.OID]int32
	walks int
}

// Doubts holds every event against those before it: what it speaks of was named by
// then, and a new checkpoint follows the one that was current.
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

// create is for most events, of which it asks for no more than what they follow.
func (d *doubting) create(i int32) {
	previous := name.ID(d.log.text(d.log.position(int(i)), textPrevious))
	d.knew(i, previous)
	if x := d.named[i]; d.first[x] == i {
		d.follows(i, previous)
	}
	d.apply(i, nil)
}

// references demands that an event speaks of checkpoints and events that it knew.
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

func (d *doubting) knew(i int32, id name.ID) {
	if id == "" {
		return
	}
	x := d.entry(id)
	if x < 0 || !d.descended(i, d.namings(x)) {
		d.doubt(i, "it speaks of %s, which no event before it names", id)
	}
}

// descended reports whether one of the positions is an ancestor of i; where that takes
// more walks than are allowed, it is taken for granted.
func (d *doubting) descended(i int32, positions []int32) bool {
	unclear := false
	for _, p := range positions {
		switch d.graph.descends(i, p) {
		case yes:
			return true
		case unsure:
			unclear = true
		}
	}
	if !unclear {
		return false
	}
	if d.walks++; d.walks > maxWalks {
		return true
	}
	past := d.graph.past(i)
	for _, p := range positions {
		if p < i && past[p] {
			return true
		}
	}
	return false
}

// follows demands that a new checkpoint names the one that was current before it, where
// all that comes before it in the order is among its ancestors.
func (d *doubting) follows(i int32, previous name.ID) {
	if d.vague || d.graph.low[i] != i {
		return
	}
	var want name.ID
	if x := d.current(); x != none {
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

// current is what the fold of all events so far would say.
func (d *doubting) current() int32 {
	if c := d.now.current; c != none && !d.dead[c] {
		return c
	}
	newest, before := none, none
	for x := range d.now.known {
		if d.now.live[x] && !d.dead[x] {
			if newest = int32(x); newest < d.now.current {
				before = newest
			}
		}
	}
	if before != none {
		return before
	}
	return newest
}

// apply lets an event have its effect; nil: a create.
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
		for _, t := range e.Tombstones {
			if x := d.entry(t.ID); x >= 0 {
				d.bury(i, x)
			}
		}
	}
}

// bury lets a tombstone count if it knew every pin so far.
func (d *doubting) bury(i, x int32) {
	for _, pin := range d.pins[x] {
		switch d.graph.descends(i, pin) {
		case no:
			return
		case unsure:
			d.vague = true
			return
		}
	}
	d.dead[x] = true
}
