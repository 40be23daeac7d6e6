package journal

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// portrait is everything in a State that must not depend on how the journal arrived.
type portrait struct {
	Order, Rollbacks              []name.OID
	Live, Discarded, Dead, Pinned []name.ID
	Tombstones                    []name.ID
	Current                       name.ID
	Status, ReadOnly              string
	Pins                          map[name.ID][]name.OID
	CreatedAt, UpdatedAt          time.Time
	Line                          []name.ID
	Undo, Redo                    []name.OID // heads of the levels of all worktrees
}

func portray(s *State) portrait {
	p := portrait{Order: oids(s.Events()), Rollbacks: oids(s.Rollbacks), Current: s.Newest, Status: s.Status, ReadOnly: s.ReadOnly,
		Pins: map[name.ID][]name.OID{}, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt}
	for _, c := range s.Checkpoints() {
		for _, flag := range []struct {
			set  bool
			list *[]name.ID
		}{{c.Live, &p.Live}, {c.Discarded, &p.Discarded}, {c.Dead, &p.Dead}, {c.Pinned, &p.Pinned}} {
			if flag.set {
				*flag.list = append(*flag.list, c.Checkpoint)
			}
		}
	}
	p.Tombstones = slices.Sorted(maps.Keys(s.Tombstones))
	for x, pins := range s.Pins {
		p.Pins[x] = oids(pins)
	}
	for c := range s.LineTo(s.NewestEntry()) {
		if c.Live {
			p.Line = append(p.Line, c.Checkpoint)
		}
	}
	for _, e := range s.UndoCandidates() {
		k := NewWalk(e.WorktreeID, s)
		for _, l := range k.Undo {
			p.Undo = append(p.Undo, l.Head.OID)
		}
		for _, l := range k.Redo {
			p.Redo = append(p.Redo, l.Head.OID)
		}
	}
	return p
}

func oids(events []*Event) []name.OID {
	var list []name.OID
	for _, e := range events {
		list = append(list, e.OID)
	}
	return list
}

func mustLog(t reporter, nodes []Node, tip name.OID) *Log {
	t.Helper()
	l, err := NewLog(nodes, tip)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// agree compares the fold with the naive implementation of the rules.
func agree(t reporter, l *Log) {
	t.Helper()
	s := l.Fold()
	v := newNaive(l.Nodes(), l.Tip().OID)
	if d := cmp.Diff(oids(v.order), oids(s.Events())); d != "" {
		t.Fatal("order (-rules +fold):", d)
	}
	n := v.fold(v.order)
	if c := v.current(n); c != s.Newest {
		t.Fatal("current is", s.Newest, "by the rules", c)
	}
	for i, c := range s.Checkpoints() {
		x := c.Checkpoint
		if n.known[i] != x {
			t.Fatal("checkpoint", i, "is", x, "by the rules", n.known[i])
		}
		got := fmt.Sprint(c.Live, c.Discarded, c.Dead, c.Pinned, c.Safety)
		dead, safety := v.dead(x), v.isSafety(x)
		if rules := fmt.Sprint(n.live[x] && !dead, !n.live[x] && !dead && !safety, dead, v.pinned(x), safety); got != rules {
			t.Fatal(x, "is", got, "by the rules", rules)
		}
	}
	for _, x := range poolIDs() {
		if s.Dead(x) != v.dead(x) || (len(s.Pins[x]) > 0) != v.pinned(x) {
			t.Fatal(x, "dead or pinned:", s.Dead(x), len(s.Pins[x]), "by the rules:", v.dead(x), v.pinned(x))
		}
	}
}

func TestFoldFollowsTheRules(t *testing.T) {
	t.Run("any shape", rapid.MakeCheck(func(t *rapid.T) {
		nodes, tip := drawDAG(t, 40)
		agree(t, mustLog(t, nodes, tip))
	}))
	t.Run("clones", rapid.MakeCheck(func(t *rapid.T) {
		for _, c := range drawSchedule(t, 30, everything) {
			agree(t, c.log)
		}
	}))
}

func TestFoldIgnoresTheOrderOfTheNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, tip := drawDAG(t, 40)
		want := portray(mustLog(t, nodes, tip).Fold())
		got := portray(mustLog(t, rapid.Permutation(nodes).Draw(t, "order"), tip).Fold())
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}

// Merges are transparent: joining the same events by other merges gives the same fold.
func TestFoldIgnoresMerges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, tip := drawDAG(t, 30)
		want := portray(mustLog(t, nodes, tip).Fold())
		for i := range rapid.IntRange(1, 5).Draw(t, "more") {
			a := nodes[rapid.IntRange(0, len(nodes)-1).Draw(t, "a")]
			m := MergeOf(Tip{OID: tip, CommitterTime: epoch}, Tip{OID: a.OID, CommitterTime: epoch}).Node(oid(-1, i))
			nodes, tip = append(nodes, m), m.OID
		}
		if d := cmp.Diff(want, portray(mustLog(t, nodes, tip).Fold())); d != "" {
			t.Fatal(d)
		}
	})
}

// The relative order of known events stays when more arrive, and a journal that was
// extended step by step folds like one that was read at once.
func TestExtend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, _ := drawDAG(t, 40)
		first := mustLog(t, nodes, nodes[0].OID)
		for step := 1; step < len(nodes); step++ {
			more, tip := join2(slices.Clone(nodes[:step+1]), step)
			if rapid.IntRange(0, 2).Draw(t, "skip") == 0 {
				continue
			}
			before := oids(first.Events())
			known := map[name.OID]bool{}
			for _, o := range before {
				known[o] = true
			}
			// Growing needs a descendant of the present tip, as a merge gives.
			if m := MergeOf(Tip{OID: first.Tip().OID}, Tip{OID: tip}); tip != first.Tip().OID {
				more = append(append(more, first.Nodes()...), m.Node(oid(-2, step)))
				tip = oid(-2, step)
			}
			if err := first.Extend(more, tip); err != nil {
				t.Fatal(err)
			}
			after := slices.DeleteFunc(oids(first.Events()), func(o name.OID) bool { return !known[o] })
			if d := cmp.Diff(before, after); d != "" {
				t.Fatal("known events changed places:", d)
			}
			if d := cmp.Diff(portray(mustLog(t, more, tip).Fold()), portray(first.Fold())); d != "" {
				t.Fatal("extended (-at once +extended):", d)
			}
		}
	})
}

// A state stays what it was while the journal that it came from grows.
func TestStateDoesNotChange(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	a.create(1)
	b.pull(a)
	a.create(2)
	before := a.state()
	was := portray(before)
	b.clock = epoch
	b.create(3)
	b.rollback(1)
	a.pull(b)
	a.rollback(2)
	if d := cmp.Diff(was, portray(before)); d != "" {
		t.Fatal(d)
	}
	if _, discard, _, err := before.RollbackPlan(id(1)); err != nil || len(discard) != 1 {
		t.Fatal("the old state plans", discard, err)
	}
}

func TestClonesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clones := drawSchedule(t, 30, everything)
		for range 2 {
			for _, c := range clones {
				for _, o := range clones {
					c.pull(o)
				}
			}
		}
		want := clones[0]
		for _, c := range clones[1:] {
			if !SameEvents(want.log, c.log) || want.log.Tip() != c.log.Tip() {
				t.Fatal("clones end with other journals")
			}
			if d := cmp.Diff(portray(want.state()), portray(c.state())); d != "" {
				t.Fatal(d)
			}
		}
	})
}

func TestLastTargetIsLive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, c := range drawSchedule(t, 30, everything) {
			s := c.state()
			if len(s.Rollbacks) == 0 {
				continue
			}
			last := s.Rollbacks[len(s.Rollbacks)-1]
			if e := s.Entry(last.To); e != nil && !e.Live && !e.Dead {
				t.Fatal("the target of the last rollback is not live:", summary(s))
			}
		}
	})
}

// Whatever else happens, a checkpoint is not dead if it has a pin that no prune knew and no unpin
// released.
func TestConcurrentPinWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clones := drawSchedule(t, 20, everything)
		a, b := clones[0], clones[1]
		a.pull(b)
		b.pull(a)
		n := a.state().Checkpoints()[0].Step
		if a.state().Dead(id(n)) {
			return
		}
		a.pin(n)
		b.prune(n)
		a.pull(b)
		b.pull(a)
		for _, c := range []*clone{a, b} {
			if s := c.state(); s.Dead(id(n)) || !s.Entry(id(n)).Pinned {
				t.Fatal("a pin lost against a prune that did not know it:", summary(s))
			}
		}
	})
}

// A State stays as it is while the journal grows, and its entries are found by their ids.
func TestFoldStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clones := drawSchedule(t, 15, everything)
		c := clones[rapid.IntRange(0, len(clones)-1).Draw(t, "who")]
		before := c.log.Fold()
		was := portray(before)
		for n := range rapid.IntRange(1, 3).Draw(t, "more") {
			kind := rapid.IntRange(0, 3).Draw(t, "kind")
			first := before.Entry(id(1))
			switch {
			case kind == 0:
				c.pull(clones[0])
			case kind == 1 && first != nil && !first.Dead:
				c.rollback(1)
			default:
				c.clock = c.clock.Add(time.Duration(rapid.IntRange(-60, 20).Draw(t, "jump")) * time.Second)
				c.create(900 + n)
			}
			got := c.log.Fold()
			for i, e := range got.Checkpoints() {
				if got.Entry(e.Checkpoint) != got.Checkpoints()[i] {
					t.Fatalf("%s is not found", e.Checkpoint)
				}
			}
			if d := cmp.Diff(was, portray(before)); d != "" {
				t.Fatal("the one before changed:", d)
			}
			before = got
			was = portray(before)
		}
	})
}

// Events about a checkpoint that precede its create, written in another clone, take effect.
func TestForeseen(t *testing.T) {
	c := newClone(t, "a")
	c.create(1)
	c.write(Event{Kind: KindPrune, Tombstones: []Tombstone{{ID: id(7)}}})
	c.write(Event{Kind: KindPin, Checkpoint: id(8)})
	for _, n := range []int{7, 8, 9} {
		c.create(n)
		if e := c.log.Fold().Entry(id(n)); e.Dead != (n == 7) || e.Live == (n == 7) || e.Pinned != (n == 8) {
			t.Errorf("checkpoint %d: %+v", n, e.Standing)
		}
	}
}
