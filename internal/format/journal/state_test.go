package journal

import (
	"slices"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"github.com/google/go-cmp/cmp"
)

func TestSessionFacts(t *testing.T) {
	a := newClone(t, "a")
	start := a.write(Event{Kind: KindStart, Workflow: "go-team", Topic: "parcels", Branch: "refs/heads/go-team/demo", Status: "in_progress"})
	a.create(1)
	a.write(Event{Kind: KindStatus, Status: "paused"})
	a.write(Event{Kind: KindSkip, Step: 2, Reason: "known"})
	a.write(Event{Kind: KindResume, Checkpoint: id(1)})
	a.write(Event{Kind: KindImport, Reason: "manifest.json"})
	s := a.state()
	if s.Session != "demo" || s.Workflow != "go-team" || s.Topic != "parcels" || s.Branch != "refs/heads/go-team/demo" || s.Status != "paused" ||
		!s.CreatedAt.Equal(start.Time) || !s.UpdatedAt.Equal(a.clock) || s.ReadOnly != "" || s.Archived != nil {
		t.Errorf("%+v", s)
	}
	if s.Skipped[2] == nil || s.Skipped[2].Reason != "known" || s.Skipped[1] != nil {
		t.Error("skipped:", s.Skipped)
	}
	if a.state().Current != id(1) || len(s.Events()) != 6 {
		t.Error("events that are about no checkpoint changed the current one")
	}
	a.write(Event{Kind: KindClose, Status: "complete"})
	a.write(Event{Kind: KindArchive})
	if s := a.state(); s.Status != "complete" || s.Archived == nil {
		t.Errorf("closed and archived: %+v", s)
	}
	a.write(Event{Kind: KindStart, Status: "in_progress"})
	if s := a.state(); s.Status != "in_progress" || s.Workflow != "go-team" || !s.CreatedAt.Equal(start.Time) {
		t.Errorf("started again: %+v", s)
	}
}

func TestLookups(t *testing.T) {
	a := newClone(t, "a")
	if s := a.state(); s.CurrentEntry() != nil || slices.Collect(s.Line()) != nil || s.Milestone(1, "") != nil || s.Entry("") != nil {
		t.Error("an empty state has something")
	}
	add := func(n, step int, iteration string, milestone bool) {
		e := checkpoint(KindCreate, n, a.state().Current)
		e.Step, e.Iteration, e.Milestone = step, iteration, milestone
		a.write(e)
	}
	add(1, 1, "", true)
	add(2, 6, "1", true)
	add(3, 6, "2", true)
	add(4, 6, "", false)
	ids := func(entries []*Entry) (list []name.ID) {
		for _, e := range entries {
			list = append(list, e.Checkpoint)
		}
		return list
	}
	s := a.state()
	for _, c := range []struct {
		step      int
		iteration string
		want      name.ID
	}{{6, "", id(3)}, {6, "1", id(2)}, {6, "2", id(3)}, {6, "9", ""}, {1, "", id(1)}, {2, "", ""}} {
		got := name.ID("")
		if m := s.Milestone(c.step, c.iteration); m != nil {
			got = m.Checkpoint
		}
		if got != c.want {
			t.Errorf("milestone %d.%s is %q, want %q", c.step, c.iteration, got, c.want)
		}
	}
	if e := s.CurrentEntry(); e == nil || e.Step != 6 {
		t.Error("current is", e)
	}
	if d := cmp.Diff([]name.ID{id(4), id(3), id(2), id(1)}, ids(slices.Collect(s.Line()))); d != "" {
		t.Error(d)
	}
	a.prune(3)
	if d := cmp.Diff([]name.ID{id(4), id(2), id(1)}, ids(slices.Collect(a.state().Line()))); d != "" {
		t.Error("the pruned stay in the line:", d)
	}
	a.rollback(1)
	add(5, 2, "", true)
	s = a.state()
	if d := cmp.Diff([]name.ID{id(5), id(1)}, ids(slices.Collect(s.Line()))); d != "" || s.Milestone(6, "") != nil {
		t.Error("after a rollback:", d)
	}
}

// Tombstones of checkpoints whose create is not in this journal are found too.
func TestDeadOfTheUnknown(t *testing.T) {
	a := newClone(t, "a")
	a.create(1)
	a.write(Event{Kind: KindPrune, Tombstones: []Tombstone{{ID: id(7), Commit: oid(1, 1), Record: "sha256:00", Reason: "old"}, {ID: id(8)}}})
	a.pin(8)
	s := a.state()
	if !s.Dead(id(7)) || s.Tombstones[id(7)].Commit != oid(1, 1) || s.Dead(id(1)) || s.Entry(id(7)) != nil {
		t.Error(s.Tombstones)
	}
	// A tombstone is void as soon as one pin is not among its ancestors, even if the pin arrives
	// later.
	if s.Dead(id(8)) || len(s.Pins[id(8)]) != 1 {
		t.Error("a tombstone counts that did not know the pin")
	}
	// It is dead also once its create arrives.
	a.adopt(7, id(1))
	if e := a.state().Entry(id(7)); !e.Dead || e.Live || a.state().Current != id(1) {
		t.Errorf("%+v", e)
	}
}

func TestSafetyCheckpointsStandApart(t *testing.T) {
	a := newClone(t, "a")
	a.create(1)
	safety := a.safe()
	a.write(Event{Kind: KindRollback, From: id(1), To: safety, Discard: []name.ID{safety}})
	a.write(Event{Kind: KindRollback, From: id(1), To: safety, Restore: []name.ID{safety}})
	s := a.state()
	if e := s.Entry(safety); !e.Safety || e.Live || e.Discarded || s.Current != id(1) {
		t.Errorf("%+v, current %s", e, s.Current)
	}
	a.prune(1)
	if s := a.state(); s.Current != "" {
		t.Error("current fell back to", s.Current)
	}
	a.write(Event{Kind: KindPrune, Tombstones: []Tombstone{{ID: safety}}})
	if e := a.state().Entry(safety); !e.Dead {
		t.Errorf("a pruned safety checkpoint is not dead: %+v", e)
	}
}

// A second event that names a checkpoint changes neither its state nor, if it is discarded, what is
// current. It is kept, so that a difference can be detected.
func TestNamedTwice(t *testing.T) {
	a := newClone(t, "a")
	a.create(1)
	a.create(2)
	a.rollback(1)
	e := checkpoint(KindCreate, 2, id(1))
	e.Record = "sha256:ff"
	a.write(e)
	s := a.state()
	want(t, s, "live 1 at 1 discarded 2")
	if x := s.Entry(id(2)); x.Event().Record != "" || x.LastNamed == nil || x.LastNamed.Record != "sha256:ff" {
		t.Errorf("%+v", x)
	}
	a.adopt(1, "")
	a.create(3)
	a.adopt(1, id(3))
	want(t, a.state(), "live 1,3 at 3 discarded 2")
	a.write(checkpoint(KindCreate, 1, ""))
	want(t, a.state(), "live 1,3 at 1 discarded 2")
}

func TestAdoptMovesCurrent(t *testing.T) {
	a := newClone(t, "a")
	a.adopt(1, "")
	want(t, a.state(), "live 1 at 1")
	a.adopt(2, id(1))
	want(t, a.state(), "live 1,2 at 2")
	a.adopt(3, id(1))
	a.adopt(4, id(9))
	want(t, a.state(), "live 1,2,3,4 at 2")
}

func TestEventsOfAnotherSessionStopWriting(t *testing.T) {
	a := newClone(t, "a")
	a.create(1)
	e := Event{Kind: KindStatus, Session: "other", Time: a.clock.Add(time.Second), Status: "x", OID: oid(1, 1)}
	if err := a.log.Extend([]Node{{OID: e.OID, Parents: []name.OID{a.log.Tip().OID}, Event: &e}}, e.OID); err != nil {
		t.Fatal(err)
	}
	if a.state().ReadOnly == "" {
		t.Error("a journal with events of two sessions may be written")
	}
}

// What is read from the newest event on is the same as what is read from the oldest on, also where two
// clones wrote at once, from git or from the cache.
func TestNewest(t *testing.T) {
	nodes := braid(300, 5, 8)
	l := mustLog(t, nodes, nodes[len(nodes)-1].OID)
	cached, err := Decode(l.Encode())
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range []*State{l.Fold(), cached.Fold()} {
		want := st.Events()
		slices.Reverse(want)
		if diff := cmp.Diff(want, slices.Collect(st.Latest())); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want, slices.Collect(st.LatestBy(want[0].WorktreeID))); diff != "" {
			t.Error(diff)
		}
		for e := range st.LatestBy("another") {
			t.Errorf("%s is not of another worktree", e.OID)
		}
		if last := st.Last(); last == nil || last.OID != want[0].OID {
			t.Errorf("the last is %v, not %s", last, want[0].OID)
		}
	}
	if e := (&State{}).Last(); e != nil {
		t.Errorf("a state without a journal has the event %v", e)
	}
}

// A milestone is superseded if a newer one has its step. A part of the session has the same ones as the whole.
func TestSuperseded(t *testing.T) {
	var nodes []Node
	for i, step := range []int{1, 2, 1, 3, 2, 4} {
		n := full(i, tips(nodes)...)
		n.Event.Step, n.Event.Milestone, n.Event.Trigger = step, i != 4, TriggerTurn
		nodes = append(nodes, n)
	}
	st := mustLog(t, nodes, nodes[len(nodes)-1].OID).Fold()
	for from, want := range []map[int]bool{{0: true}, {}, {}} {
		if diff := cmp.Diff(want, st.Superseded(from)); diff != "" {
			t.Errorf("from %d: %s", from, diff)
		}
		if diff := cmp.Diff(want, st.Continued(from)); diff != "" {
			t.Errorf("from %d: %s", from, diff)
		}
	}
}

// tips returns the id of the last node, if there is one.
func tips(nodes []Node) []name.OID {
	if len(nodes) == 0 {
		return nil
	}
	return []name.OID{nodes[len(nodes)-1].OID}
}
