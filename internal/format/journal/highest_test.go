package journal

import (
	"testing"

	"git-checkpoint/internal/format/name"
)

// Numbers are counted over everything that a journal names, whatever became of it.
func TestHighest(t *testing.T) {
	c := newClone(t, "a")
	if got := c.state().Highest(); got != -1 {
		t.Error("an empty journal names", got)
	}
	tell := func(want int) {
		t.Helper()
		if got := c.state().Highest(); got != want {
			t.Errorf("the highest is %d, want %d", got, want)
		}
	}
	hangs := checkpoint(KindCreate, 0, "")
	hangs.Milestone, hangs.Trigger = false, "tool"
	c.write(hangs)
	tell(-1) // it is before the first step
	c.create(1)
	c.create(2)
	c.write(Event{Kind: KindRollback, From: id(2), To: id(1), Discard: []name.ID{id(2)}})
	tell(2)
	c.create(4)
	c.prune(4)
	tell(4)
	c.write(Event{Kind: KindSkip, Step: 7})
	tell(7)
	c.write(Event{Kind: KindPrune, Tombstones: []Tombstone{{ID: id(9), Reason: "its create is in no clone any more"}}})
	tell(9)
}
