package journal

import (
	"testing"

	"git-checkpoint/internal/format/name"
)

// Each test shows what would go wrong without one of the rules.

func TestDiscardsByList(t *testing.T) {
	a := newClone(t, "a")
	a.create(1)
	a.create(2)
	a.rollback(1)
	a.create(12)
	want(t, a.state(), "live 1,12 at 12 discarded 2")
	a.undo()
	want(t, a.state(), "live 1,2 at 2 discarded 12")
	a.undo()
	want(t, a.state(), "live 1,12 at 12 discarded 2")
}

func TestTargetAlwaysLive(t *testing.T) {
	for _, later := range []string{"a", "b"} {
		a := newClone(t, "a")
		a.create(1)
		a.create(2)
		a.create(3)
		b := newClone(t, "b")
		b.pull(a)
		b.clock, a.clock = a.clock, a.clock.Add(1)
		if later == "a" {
			a.clock = a.clock.Add(60e9)
		} else {
			b.clock = b.clock.Add(60e9)
		}
		a.rollback(1)
		b.rollback(2)
		a.pull(b)
		if later == "b" {
			want(t, a.state(), "live 1,2 at 2 discarded 3")
		} else {
			want(t, a.state(), "live 1 at 1 discarded 2,3")
		}
	}
}

func TestVoidTombstone(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	a.create(1)
	a.create(2)
	b.pull(a)
	b.prune(1)
	a.pin(1)
	want(t, b.state(), "live 2 at 2 dead 1")
	a.pull(b)
	b.pull(a)
	want(t, b.state(), "live 1,2 at 2 pinned 1")
	a.unpin(1)
	want(t, a.state(), "live 1,2 at 2")
	if a.state().Dead(id(1)) {
		t.Error("the tombstone that did not know the pin counts after unpin")
	}
	a.prune(1)
	want(t, a.state(), "live 2 at 2 dead 1")
	b.pull(a)
	want(t, b.state(), "live 2 at 2 dead 1")
}

// An unpin takes back the pins that it knew, also while others work, and no other.
func TestUnpinTakesBackWhatItKnew(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	a.create(1)
	b.pull(a)
	b.create(2)
	a.clock = b.clock.Add(60e9)
	a.pin(1)
	a.unpin(1)
	b.clock = a.clock.Add(60e9)
	b.create(3)
	a.pull(b)
	want(t, a.state(), "live 1,2,3 at 3")
	b.pin(1)
	a.unpin(1)
	a.pull(b)
	want(t, a.state(), "live 1,2,3 at 3 pinned 1")
}

func TestWorktreeID(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	a.create(1)
	a.create(2)
	b.pull(a)
	first := a.rollback(1)
	b.clock = a.clock.Add(60e9)
	second := b.rollback(1)
	a.pull(b)
	s := a.state()
	if first.Worktree != second.Worktree {
		t.Fatal("the worktrees should have one name")
	}
	for worktree, move := range map[string]*Event{"a": first, "b": second} {
		if undo := NewWalk(worktree, s).Undo; len(undo) != 1 || undo[0].Head.OID != move.OID {
			t.Errorf("%s would undo %v", worktree, undo)
		}
	}
	p, err := s.PlanUndoOf(undoTarget(s, "a"))
	if err != nil || p.Undoes.Safety != first.Safety || p.Target != id(2) || p.Undoes.OID != first.OID {
		t.Errorf("plan of a: %+v, %v", p, err)
	}
	if c := s.UndoCandidates(); len(c) != 2 || c[0].OID != second.OID || c[1].OID != first.OID {
		t.Errorf("candidates: %v", c)
	}
}

func TestCurrentFallsBack(t *testing.T) {
	a := newClone(t, "a")
	a.create(1)
	a.create(2)
	a.prune(2)
	want(t, a.state(), "live 1 at 1 dead 2")
	a.create(3)
	a.rollback(1)
	a.prune(1)
	// Nothing live is before 1, and 3 is discarded.
	want(t, a.state(), "live  at none discarded 3 dead 1,2")
	a.create(4)
	a.create(5)
	a.rollback(4)
	a.create(6)
	a.prune(6)
	want(t, a.state(), "live 4 at 4 discarded 3,5 dead 1,2,6")
	b := newClone(t, "b")
	b.create(1)
	b.create(2)
	b.rollback(1)
	b.rollback(2)
	b.rollback(1)
	b.create(7)
	b.write(Event{Kind: KindRollback, From: id(7), To: id(1)})
	b.prune(1)
	want(t, b.state(), "live 7 at 7 discarded 2 dead 1")
}

func TestKByCreateOrAdopt(t *testing.T) {
	for _, early := range []bool{true, false} {
		a, b := newClone(t, "a"), newClone(t, "b")
		a.create(3)
		b.pull(a)
		// The checkpoint arrived at b, the journal of a did not.
		if !early {
			a.clock = a.clock.Add(3600e9)
		}
		a.create(4)
		b.adopt(4, id(3))
		want(t, b.state(), "live 3,4 at 4")
		b.write(Event{Kind: KindRollback, From: id(4), To: id(3), Discard: []name.ID{id(4)}})
		want(t, b.state(), "live 3 at 3 discarded 4")
		b.pull(a)
		a.pull(b)
		want(t, a.state(), "live 3 at 3 discarded 4")
		want(t, b.state(), "live 3 at 3 discarded 4")
	}
}

// A rollback changes nothing that it did not know, even when its list names it.
func TestListsChangeOnlyWhatWasKnown(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	a.create(1)
	b.pull(a)
	a.create(2)
	b.clock = b.clock.Add(60e9)
	b.write(Event{Kind: KindRollback, From: id(1), To: id(1), Discard: []name.ID{id(2), id(9)}})
	a.pull(b)
	want(t, a.state(), "live 1,2 at 1")
}

func TestMergeDates(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	a.create(1)
	b.pull(a)
	remotes := [2]*clone{newClone(t, "r"), newClone(t, "q")}
	a.create(2)
	b.clock = b.clock.Add(7200e9)
	b.create(3)
	var tips []name.OID
	for round := range 6 {
		merges := 0
		for i, r := range remotes {
			// Each clone begins with another remote.
			for _, pair := range [][2]*clone{{a, r}, {b, remotes[1-i]}} {
				for _, c := range []*clone{pair[0], pair[1]} {
					other := pair[0]
					if c == pair[0] {
						other = pair[1]
					}
					if c.pull(other) {
						merges++
					}
				}
			}
		}
		if round > 1 && merges > 0 {
			t.Errorf("round %d still made %d merges", round, merges)
		}
		tips = append(tips, a.log.Tip().OID)
	}
	if a.log.Tip() != b.log.Tip() || a.log.Tip() != remotes[0].log.Tip() || tips[5] != tips[2] {
		t.Errorf("tips do not agree: %v %v, %v", a.log.Tip(), b.log.Tip(), tips)
	}
	if !SameEvents(a.log, b.log) {
		t.Error("the clones do not know the same events")
	}
}
