package journal

// This file decides which checkpoints are dead and which are pinned. A pin and a prune can be
// concurrent, in two clones, and then the pin must win in both. So a prune kills a checkpoint only
// if its writer knew every pin of it, that is, if every pin is an ancestor of the prune. Likewise
// an unpin releases only the pins among its ancestors.

import (
	"slices"

	"git-checkpoint/internal/format/name"
)

// applyTombstones fills in Tombstones and Pins. A checkpoint is dead if at least one prune knew every pin of
// it. A tombstone that did not is void for good, even if the pin is taken back later: removing the
// checkpoint then needs a new prune. A checkpoint is pinned if it is not dead and some pin was not
// released. Events that this version does not know have no effect.
func (s *State) applyTombstones() {
	f := s.fold
	pins := map[name.ID][]int32{} // positions
	var ends []int32              // positions of unpins and prunes
	for i := range f.named {
		switch e := f.at(int32(i)).special(); {
		case e == nil || e.Format > Format:
		case e.Kind == KindPin:
			pins[e.Checkpoint] = append(pins[e.Checkpoint], int32(i))
		case e.Kind == KindUnpin || e.Kind == KindPrune:
			ends = append(ends, int32(i))
		}
	}
	released := map[int32]bool{}
	for _, i := range ends {
		e, knew := f.event(i), f.graph().ancestors(i)
		if e.Kind == KindUnpin {
			for _, p := range pins[e.Checkpoint] {
				released[p] = released[p] || knew(p)
			}
			continue
		}
		for _, t := range e.Tombstones {
			unknown := func(p int32) bool { return !knew(p) }
			if !s.Dead(t.ID) && !slices.ContainsFunc(pins[t.ID], unknown) {
				s.Tombstones[t.ID] = t
			}
		}
	}
	for id, all := range pins {
		for _, p := range all {
			if !released[p] && !s.Dead(id) {
				s.Pins[id] = append(s.Pins[id], f.event(p))
			}
		}
	}
}
