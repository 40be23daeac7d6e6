package journal

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestPlansFollowTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, c := range drawSchedule(t, 30, everything) {
			s, v := c.state(), newNaive(c.log.Nodes(), c.log.Tip().OID)
			for _, e := range s.Checkpoints() {
				if e.Safety || e.Dead {
					continue
				}
				_, discard, restore, err := s.RollbackPlan(e.Checkpoint)
				if err != nil {
					t.Fatal(err)
				}
				d, r := v.rollback(c.id, e.Checkpoint)
				if diff := cmp.Diff([][]name.ID{d, r}, [][]name.ID{discard, restore}); diff != "" {
					t.Fatal("rollback (-rules +plan)", diff)
				}
			}
			for _, e := range s.Rollbacks {
				p, err := s.PlanUndoOf(e)
				if err != nil {
					t.Fatal(err)
				}
				d, r := v.undo(c.id, e)
				if diff := cmp.Diff([][]name.ID{sortedIDs(d), sortedIDs(r)}, [][]name.ID{sortedIDs(p.Discard), sortedIDs(p.Restore)}); diff != "" {
					t.Fatal("undo (-rules +plan)", diff)
				}
			}
		}
	})
}

// The fold does what a plan says. An undo right after a rollback restores the state exactly, and so
// does an undo of the undo.
func TestUndoIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clones := drawSchedule(t, 25, everything)
		c := clones[rapid.IntRange(0, len(clones)-1).Draw(t, "who")]
		s := c.state()
		x := s.Checkpoints()[rapid.IntRange(0, len(s.Checkpoints())-1).Draw(t, "target")]
		if x.Safety || x.Dead || s.Current == "" {
			return
		}
		for y, built := range s.fold.markElsewhere(s.fold.markHere()) {
			if built && s.fold.marks[y]&markDiscarded != 0 {
				return // no undo leaves behind again what another head was built on meanwhile
			}
		}
		c.safe()                        // it brings back what others left behind of the line here
		live := func(s *State) string { // and the place: the newest may be another worktree's
			where, _, _ := strings.Cut(summary(s), " at ")
			return where + " at " + string(s.Place)
		}
		before := live(c.state())
		c.rollback(x.Step)
		if c.state().Place != x.Checkpoint {
			t.Fatal("the target is not the place")
		}
		after := live(c.state())
		c.undo()
		if now := live(c.state()); now != before {
			t.Fatal("undone it is", now, "and was", before)
		}
		c.undo()
		if now := live(c.state()); now != after {
			t.Fatal("redone it is", now, "and was", after)
		}
	})
}

// An undo leaves alone what was made at the same time, and what was adopted after.
func TestUndoLeavesConcurrentWork(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	a.create(1)
	a.create(2)
	b.pull(a)
	a.rollback(1)
	b.create(3)
	a.pull(b)
	a.adopt(4, "")
	a.create(5)
	want(t, a.state(), "live 1,3,4,5 at 5 discarded 2")
	a.undo()
	want(t, a.state(), "live 1,2,3,4 at 2 discarded 5")
}

// What another worktree made at the same time stays, wherever it comes in the order.
func TestRollbackAndConcurrentWork(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	a.create(1)
	b.pull(a)
	b.create(2)
	a.clock = b.clock.Add(5e9)
	a.create(3)
	b.clock = a.clock.Add(5e9)
	b.create(4)
	a.pull(b)
	_, discard, restore, err := a.state().RollbackPlan(id(3))
	if err != nil || discard != nil || restore != nil {
		t.Fatal(discard, restore, err)
	}
}

func TestRollbackForward(t *testing.T) {
	a := newClone(t, "a")
	for n := 1; n <= 4; n++ {
		a.create(n)
	}
	a.rollback(1)
	a.create(5)
	a.rollback(3)
	want(t, a.state(), "live 1,2,3 at 3 discarded 4,5")
	a.undo()
	want(t, a.state(), "live 1,5 at 5 discarded 2,3,4")
}

// The lists contain dead checkpoints too: a pin that arrives later revives them, and they must then
// be in the state that the rollback gave them.
func TestPlanListsTheDead(t *testing.T) {
	a := newClone(t, "a")
	a.create(1)
	a.create(2)
	a.prune(2)
	if v := a.rollback(1); !slices.Equal(v.Discard, []name.ID{id(2)}) {
		t.Fatal(v.Discard)
	}
}

func TestPlansRefuse(t *testing.T) {
	a := newClone(t, "a")
	a.create(1)
	s := a.state()
	if _, _, _, err := s.RollbackPlan(id(7)); !errors.Is(err, ErrUnknownCheckpoint) {
		t.Error("unknown:", err)
	}
	v := a.rollback(1)
	if target, _, _, err := a.state().RollbackPlan(v.Safety); err != nil || target != id(1) {
		t.Error("safety:", target, err)
	}
	a.prune(1)
	if _, _, _, err := a.state().RollbackPlan(id(1)); !errors.Is(err, ErrDead) {
		t.Error("dead:", err)
	}
	if _, err := s.PlanUndoOf(v); !errors.Is(err, ErrNothingToUndo) {
		t.Error("an event of another state:", err)
	}
	a.write(Event{Kind: KindRollback, From: id(8), To: id(1)})
	forged := a.state()
	if _, err := forged.PlanUndoOf(undoTarget(forged, "a")); !errors.Is(err, ErrUnknownCheckpoint) {
		t.Error("forged from:", err)
	}
}

// The undo of a rollback that was made when nothing was current.
func TestUndoToNone(t *testing.T) {
	a := newClone(t, "a")
	a.create(1)
	a.create(2)
	a.rollback(1)
	a.prune(1)
	want(t, a.state(), "live  at none discarded 2 dead 1")
	a.rollback(2)
	want(t, a.state(), "live 2 at 2 dead 1")
	a.undo()
	want(t, a.state(), "live  at none discarded 2 dead 1")
}

func (c *clone) rebuild(n, from int) {
	e := checkpoint(KindRebuild, n, c.state().Entry(id(from)).Event().Previous)
	e.Step, e.RebuiltFrom = from, id(from)
	c.write(e)
}

func TestRebuild(t *testing.T) {
	a := newClone(t, "a")
	for n := 1; n <= 3; n++ {
		a.create(n)
	}
	a.rebuild(22, 2)
	s := a.state()
	want(t, s, "live 1,2,3,2 at 3")
	if m := s.Milestone(2, ""); m == nil || m.Checkpoint != id(22) {
		t.Error("step 2 is", m)
	}
	a.rebuild(33, 3)
	if c := a.state().Current; c != id(33) {
		t.Error("the replacement of the current checkpoint is not current:", c)
	}
	// The rebuilt checkpoint takes the place of the damaged one, as a target and as one that stays
	// live.
	if _, discard, _, err := a.state().RollbackPlan(id(22)); err != nil || !slices.Equal(discard, []name.ID{id(3), id(33)}) {
		t.Error("rollback to the rebuilt step 2 discards", discard, err)
	}
	if _, discard, _, err := a.state().RollbackPlan(id(3)); err != nil || len(discard) != 0 {
		t.Error("rollback to step 3 discards", discard, err)
	}
	a.write(Event{Kind: KindRebuild, Checkpoint: id(1)})
	if e := a.state().Entry(id(1)); e.LastNamed != nil {
		t.Error("a rebuild of notes names a checkpoint")
	}
}

// A rebuilt checkpoint comes back with the one that it stands for.
func TestRebuiltComesBack(t *testing.T) {
	a := newClone(t, "a")
	for n := 1; n <= 3; n++ {
		a.create(n)
	}
	a.rebuild(22, 2)
	a.rollback(1)
	if v := a.rollback(3); !slices.Equal(v.Restore, []name.ID{id(2), id(3), id(22)}) {
		t.Error("brought back:", v.Restore)
	}
	// What replaces a safety checkpoint and is none itself can be gone back to.
	safety := a.safe()
	e := checkpoint(KindRebuild, 4, "")
	e.RebuiltFrom = safety
	a.write(e)
	if _, discard, _, err := a.state().RollbackPlan(id(4)); err != nil || slices.Contains(discard, id(4)) {
		t.Error("the target would be discarded:", discard, err)
	}
}

// An undo discards what was rebuilt from what it discards, and no other repair.
func TestUndoAndRebuild(t *testing.T) {
	a := newClone(t, "a")
	a.create(1)
	a.create(2)
	a.rollback(1)
	a.create(3)
	a.rebuild(33, 3)
	a.rebuild(11, 1)
	a.undo()
	if s := a.state(); s.Entry(id(33)).Live || s.Entry(id(3)).Live || !s.Entry(id(11)).Live || s.Current != id(2) {
		t.Error(summary(s))
	}
}

// Forged circles of rebuilds and of previous checkpoints end.
func TestForgedCircles(t *testing.T) {
	a := newClone(t, "a")
	e := checkpoint(KindRebuild, 1, id(2))
	e.RebuiltFrom = id(2)
	a.write(e)
	e = checkpoint(KindRebuild, 2, id(1))
	e.RebuiltFrom = id(1)
	a.write(e)
	e.RebuiltFrom = id(2)
	a.write(e)
	if _, _, _, err := a.state().RollbackPlan(id(2)); err != nil {
		t.Error(err)
	}
	if line := slices.Collect(a.state().Line()); len(line) != 2 {
		t.Error("line has", len(line))
	}
}
