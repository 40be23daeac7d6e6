package journal

import "git-checkpoint/internal/name"

// grave gathers the pins, unpins and prunes of one checkpoint, by position in order.
type grave struct {
	id     name.ID
	pins   []pin
	unpins []int32
	prunes []prune
}

type pin struct {
	at       int32
	released answer // by an unpin that knew it
}

type prune struct {
	at        int32
	tombstone Tombstone
	knew      answer // every pin of the checkpoint
}

// bury finds what is dead and what is pinned. A checkpoint is dead when some prune
// knew every pin of it; a tombstone that did not is void for good, also after the
// pin is taken back. It is pinned when it is not dead and some pin is not known to
// any unpin.
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

// graves gathers by checkpoint, in the order in which they are first mentioned.
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

// decide answers what is cheap. Positions are sorted: the last pin stands for all
// when it is below what the prune descends from, and so does the unpin that descends
// from most.
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

// dig answers the rest with one lane for each pin in question.
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
				g.prunes[i].knew = yes // no pin spoke against it
			}
		}
	}
}

// witness settles what one pin says about the unpins and prunes in question.
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
