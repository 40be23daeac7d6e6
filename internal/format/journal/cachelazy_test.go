package journal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawKept draws a text that a member may have.
func drawKept(t *rapid.T) string {
	digits := strings.Repeat("0f", rapid.IntRange(0, 90).Draw(t, "digits"))
	return rapid.SampledFrom([]string{
		"", "x", digits, digits + "0", "sha256:" + digits, "sha256:", strings.ToUpper(digits), "é" + digits, TriggerSafety,
	}).Draw(t, "text")
}

// drawLine draws a journal that one clone wrote, of creates that differ from each other in any
// member.
func drawLine(t *rapid.T, size int) []Node {
	var nodes []Node
	for i := range size {
		e := checkpoint(KindCreate, i%1000, id(max(i-1, 0)%1000))
		e.Format, e.Session, e.Actor, e.Worktree, e.WorktreeID = Format, "demo", actor, "main", "4f2a9c1b4f2a9c1b"
		e.OID, e.Time = oid(8, i), epoch.Add(time.Duration(i)*time.Second)
		e.Commit, e.Record = oid(9, i), fmt.Sprintf("sha256:%064x", i)
		if i > 0 {
			e.Parents = []name.OID{nodes[i-1].OID}
		}
		nodes = append(nodes, Node{OID: e.OID, Parents: e.Parents, Event: &e, CommitterTime: e.Time})
	}
	for range rapid.IntRange(0, 40).Draw(t, "changes") {
		e := nodes[rapid.IntRange(0, size-1).Draw(t, "node")].Event
		fields := textFields(e)
		switch k := rapid.IntRange(-6, textCount-1).Draw(t, "member"); k {
		case -1:
			e.Step = rapid.IntRange(-5, maxStep).Draw(t, "step")
		case -2:
			e.Milestone = !e.Milestone
		case -3:
			e.Actor = drawKept(t)
		case -4:
			e.Extra = append(e.Extra, Trailer{"X", drawKept(t)})
		case -5:
			e.Kind, e.Discard = rapid.SampledFrom([]Kind{KindRollback, KindAdopt, KindCreate, KindPin}).Draw(t, "kind"), []name.ID{id(1)}
		case -6:
			e.Time = e.Time.Add(time.Duration(rapid.IntRange(-1e9, 1e9).Draw(t, "skew")) * time.Millisecond)
		default:
			*fields[k].value = drawKept(t)
		}
	}
	return nodes
}

// A create that is only scanned reads back unchanged, each of its members also by itself, and the
// fold is the same.
func TestLazyRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{2, 40, 1054}).Draw(t, "size")
		nodes := drawLine(t, size)
		l := mustLog(t, nodes, nodes[len(nodes)-1].OID)
		back, err := Decode(l.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if from := rapid.IntRange(1, size).Draw(t, "from"); string(l.AppendTo(mustLog(t, nodes[:from], nodes[from-1].OID).Encode(), from)) != string(l.Encode()) {
			t.Fatal("the appended cache is not the whole one")
		}
		kept := 0
		for i := range back.nodes {
			if back.nodes[i].own == nil {
				kept++
			}
			e := nodes[i].Event
			for k, f := range textFields(e) {
				if back.text(int32(i), k) != *f.value {
					t.Fatalf("%s of %+v is %q", f.key, e, back.text(int32(i), k))
				}
			}
		}
		if kept < size-40 { // at most that many have been made unusual
			t.Fatalf("%d of %d are not parsed yet", kept, size)
		}
		a, b := l.Fold(), back.Fold()
		if d := cmp.Diff(portray(a), portray(b)); d != "" {
			t.Fatal(d)
		}
		for i, c := range a.Checkpoints() {
			x := b.At(i)
			if x.Place != i || x.Checkpoint != c.Checkpoint || x.Label != c.Label || x.Standing != c.Standing || b.StepName(i) != c.Event().StepName ||
				b.Entry(c.Checkpoint) != x {
				t.Fatalf("%+v is %+v", c, x)
			}
			if d := cmp.Diff(normal(*c.Event()), normal(*x.Event())); d != "" {
				t.Fatal(d)
			}
			if want, got := a.Labelled(c.Label), b.Labelled(c.Label); (want == nil) != (got == nil) || want != nil && want.Place != got.Place {
				t.Fatalf("labelled %q: %+v, not %+v", c.Label, got, want)
			}
		}
		same(t, l, back)
	})
}

// Log.is finds out whether an event was written in a worktree without parsing the event.
func TestWorked(t *testing.T) {
	a := newClone(t, "a")
	for n := range 5 {
		a.create(n)
	}
	e := checkpoint(KindCreate, 5, a.state().Current)
	e.WorktreeID = "ffffffffffffffffffffffffffffffff"
	a.write(e)
	a.pin(1)
	e = Event{Kind: KindStatus, Status: "x", WorktreeID: "s"}
	a.write(e)
	back, err := Decode(a.log.Encode())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*State{a.state(), back.Fold()} {
		if !s.Worked("a") || !s.Worked("a", KindCreate) || !s.Worked(strings.Repeat("f", 32), KindCreate) || !s.Worked("s") ||
			s.Worked("s", KindCreate) || s.Worked("b") || s.Worked(strings.Repeat("f", 32), KindPin) {
			t.Error("who worked there is not what was written")
		}
	}
	if new(State).Worked("a") {
		t.Error("nobody worked anywhere")
	}
}

// PlaceIn finds a checkpoint in a State from before the journal grew, and in none.
func TestPlaceIn(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	a.create(1)
	a.create(2)
	before := a.state()
	b.pull(a)
	b.create(3)
	a.rollback(1)
	a.pull(b)
	after := a.state()
	for i, want := range []int{0, 1, -1} {
		if got := after.PlaceIn(before, i); got != want {
			t.Errorf("%d stood before at %d", i, got)
		}
	}
	// An earlier checkpoint that arrives later moves the others.
	c, d := newClone(t, "c"), newClone(t, "d")
	d.create(1)
	c.create(2)
	c.create(3)
	before = c.state()
	c.pull(d)
	after = c.state()
	for i, want := range []int{-1, 0, 1} {
		if got := after.PlaceIn(before, i); got != want {
			t.Errorf("%d stood at %d before an earlier one arrived", i, got)
		}
	}
	if after.PlaceIn(nil, 0) != -1 || after.PlaceIn(&State{}, 0) != -1 {
		t.Error("it has a place in nothing")
	}
}

// The table finds entries even if others have the same slot or the same hash.
func TestTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hashes := rapid.SliceOfN(rapid.Uint32Range(0, 20), 1, 60).Draw(t, "hashes")
		tab := table{}
		for x, h := range hashes {
			got, free := tab.find(h, func(int32) bool { return false })
			if got != none {
				t.Fatalf("%d is there as %d before it is added", x, got)
			}
			tab[free] = int32(x)
		}
		for x, h := range hashes {
			if got, _ := tab.find(h, func(y int32) bool { return y == int32(x) }); got != int32(x) {
				t.Fatalf("%d is found as %d", x, got)
			}
			if got, _ := tab.find(h, func(int32) bool { return false }); got != none {
				t.Fatalf("what is not there is found as %d", got)
			}
		}
	})
}
