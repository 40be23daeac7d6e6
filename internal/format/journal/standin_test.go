package journal

import (
	"testing"

	"git-checkpoint/internal/format/name"
)

// A dead checkpoint is replaced by the one that was rebuilt from it, over any number of rebuilds.
// One that is not dead or has no replacement is returned itself. An undo goes to the replacement.
func TestStandIn(t *testing.T) {
	c := newClone(t, "a")
	c.create(1)
	c.create(2)
	c.create(3)
	c.rollback(1)
	c.rebuild(12, 2)
	c.rebuild(13, 3)
	c.prune(2)
	c.prune(3)
	c.rebuild(22, 12)
	c.prune(12)
	c.prune(1)
	st := c.log.Fold()
	for n, want := range map[int]int{1: 1, 2: 22, 12: 22, 22: 22, 3: 13} {
		if got := st.StandIn(id(n)); got != id(want) {
			t.Errorf("%s stands in for %s", got, id(n))
		}
	}
	p, err := st.PlanUndoOf(st.Rollbacks[0])
	if err != nil || p.Target != id(13) {
		t.Fatalf("%+v %v", p, err)
	}
	if (&State{}).StandIn("x") != name.ID("x") {
		t.Error("an empty state replaces something")
	}
}
