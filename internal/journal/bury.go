package journal

// This file decides which checkpoints are dead and which are pinned. A pin and a prune can be
// concurrent, in two clones, and then the pin must win in both. So a prune kills a checkpoint only
// if its writer knew every pin of it, that is, if every pin is an ancestor of the prune. Likewise
// an unpin releases only the pins among its ancestors. Ancestry is asked first by the cheap bound
// of the graph (decide), and what that leaves open is answered by sweeping the graph once for all
// checkpoints (dig).

import "git-checkpoint/internal/name"

// grave collects the pins, unpins and prunes of one checkpoint, by position in the order of the
// fold.
type grave struct {
	id     name.ID
	pins   []pin
	unpins []int32
	prunes []prune
}

// pin is a pin event. released tells whether an unpin has it as an ancestor.
type pin struct {
	at       int32
	released answer
}

// prune is one tombstone of a prune event. knew tells whether every pin of the checkpoint is an
// ancestor of the event.
type prune struct {
	at        int32
	tombstone Tombstone
	knew      answer
}

// bury fills in Tombstones and Pins. A checkpoint is dead if at least one prune knew every pin of
// it. A tombstone that did not is void for good, even if the pin is taken back later: removing the
// checkpoint then needs a new prune. A checkpoint is pinned if it is not dead and some pin was not
// released.
func (s *State) bury() {
	f := s.fold
	graves := f.graves()
	if len(graves) == 0 {
		return
	}
	for _, g := range graves {
		g.decide(f.graph())
	}
	f.dig(graves)
	for _, g := range graves {
		for _, p := range g.prunes {
			if p.knew == yes {
				s.Tombstones[g.id] = p.tombstone
				break
			}
		}
		if s.Dead(g.id) {
			continue
		}
		for _, p := range g.pins {
			if p.released != yes {
				s.Pins[g.id] = append(s.Pins[g.id], f.event(p.at))
			}
		}
	}
}

// graves returns the graves of all checkpoints that have one, in the order of their first mention.
// Events that this version does not know have no effect.
func (f *fold) graves() []*grave {
	var graves []*grave
	byID := map[name.ID]*grave{}
	of := func(id name.ID) *grave {
		g := byID[id]
		if g == nil {
			g = &grave{id: id}
			byID[id] = g
			graves = append(graves, g)
		}
		return g
	}
	for i := range f.named {
		e := f.at(int32(i)).special()
		if e == nil || e.Format > Format {
			continue
		}
		switch e.Kind {
		case KindPin:
			g := of(e.Checkpoint)
			g.pins = append(g.pins, pin{at: int32(i)})
		case KindUnpin:
			g := of(e.Checkpoint)
			g.unpins = append(g.unpins, int32(i))
		case KindPrune:
			for _, t := range e.Tombstones {
				g := of(t.ID)
				g.prunes = append(g.prunes, prune{at: int32(i), tombstone: t})
			}
		}
	}
	return graves
}

// decide settles what the graph can answer at once. Positions are in ascending order, so if the
// last pin is below a prune's bound, all pins are. For the same reason the unpin with the highest
// bound releases whatever any unpin is known to release.
func (g *grave) decide(of *graph) {
	for i := range g.prunes {
		p := &g.prunes[i]
		p.knew = yes
		if len(g.pins) > 0 {
			p.knew = of.descends(p.at, g.pins[len(g.pins)-1].at)
		}
	}
	if len(g.unpins) == 0 {
		return
	}
	most, lastUnpin := int32(0), g.unpins[len(g.unpins)-1]
	for _, u := range g.unpins {
		most = max(most, of.low[u])
	}
	for i := range g.pins {
		switch p := &g.pins[i]; {
		case p.at < most:
			p.released = yes
		case p.at < lastUnpin:
			p.released = unsure
		}
	}
}

// dig settles the rest. It asks one lane per pin that is in question, up to the last unpin or prune
// that could have it as an ancestor.
func (f *fold) dig(graves []*grave) {
	var lanes []lane
	var pins []*pin
	var owners []*grave
	for _, g := range graves {
		until := int32(0)
		for _, p := range g.prunes {
			if p.knew == unsure {
				until = max(until, p.at)
			}
		}
		for i := range g.pins {
			p := &g.pins[i]
			last := until
			if p.released == unsure {
				last = max(last, g.unpins[len(g.unpins)-1])
			}
			if last > 0 {
				lanes = append(lanes, lane{sources: []int32{p.at}, until: last})
				pins, owners = append(pins, p), append(owners, g)
			}
		}
	}
	f.graph().sweep(lanes, func(first, count int, reached func(int32) uint64) {
		for bit := range count {
			owners[first+bit].witness(pins[first+bit], func(i int32) bool { return reached(i)&(1<<bit) != 0 })
		}
	})
	for _, g := range graves {
		for i := range g.prunes {
			if g.prunes[i].knew == unsure {
				g.prunes[i].knew = yes // witness found no pin that it did not know
			}
		}
	}
}

// witness settles what the answers about one pin say about the unpins and prunes of its checkpoint.
// knownTo reports whether the pin is an ancestor of the event at a position.
func (g *grave) witness(p *pin, knownTo func(int32) bool) {
	if p.released == unsure {
		for _, u := range g.unpins {
			if knownTo(u) {
				p.released = yes
				break
			}
		}
	}
	for i := range g.prunes {
		if q := &g.prunes[i]; q.knew == unsure && !knownTo(q.at) {
			q.knew = no
		}
	}
}
