package journal

import (
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestNewLogNamesTheHole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, tip := drawDAG(t, 30)
		reached := mustLog(t, nodes, tip).Nodes()
		hole := reached[rapid.IntRange(0, len(reached)-1).Draw(t, "hole")].OID
		var rest []Node
		for _, n := range nodes {
			if n.OID != hole {
				rest = append(rest, n)
			}
		}
		_, err := NewLog(rest, tip)
		if err == nil || !strings.Contains(err.Error(), strconv.Quote(string(hole))) || strings.Contains(err.Error(), "hole") == (hole == tip) {
			t.Fatal(err)
		}
	})
}

// Real commits cannot form a cycle. A faulty reader of commits must not cause a hang.
func TestNewLogEndsOnCircles(t *testing.T) {
	a, b := Node{OID: oid(1, 1), Parents: []name.OID{oid(1, 2)}}, Node{OID: oid(1, 2), Parents: []name.OID{oid(1, 1)}}
	if _, err := NewLog([]Node{a, b}, a.OID); err == nil {
		t.Error("two commits that are each other's parent make a journal")
	}
	c := newClone(t, "c")
	c.create(1)
	before := portray(c.state())
	b.Parents = append(b.Parents, c.log.Tip().OID)
	if err := c.log.Extend([]Node{a, b}, a.OID); err == nil {
		t.Error("a circle extends a journal")
	}
	if d := cmp.Diff(before, portray(c.state())); d != "" {
		t.Error("the refused nodes left something:", d)
	}
}

func TestExtendRefuses(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	first := a.create(1)
	b.pull(a)
	a.create(2)
	b.create(3)
	before, tip := portray(a.state()), a.log.Tip()
	if err := a.log.Extend(nil, first.OID); err == nil {
		t.Error("the journal went back to an older tip")
	}
	if err := a.log.Extend(b.log.Nodes(), b.log.Tip().OID); err == nil {
		t.Error("the journal went to a tip that does not descend from its own")
	}
	if err := a.log.Extend(nil, oid(7, 7)); err == nil {
		t.Error("the journal went to a tip that is not there")
	}
	hole := Node{OID: oid(7, 8), Parents: []name.OID{tip.OID, oid(7, 7)}}
	if err := a.log.Extend([]Node{hole}, hole.OID); err == nil || !strings.Contains(err.Error(), strconv.Quote(string(oid(7, 7)))) {
		t.Error(err)
	}
	if a.log.Tip() != tip || cmp.Diff(before, portray(a.state())) != "" {
		t.Error("the refused nodes left something")
	}
	if err := a.log.Extend(nil, tip.OID); err != nil {
		t.Error("nothing new:", err)
	}
}

// A commit that names a parent twice, and nodes that are given twice.
func TestTwins(t *testing.T) {
	a := newClone(t, "a")
	a.create(1)
	nodes := a.log.Nodes()
	e := checkpoint(KindCreate, 2, id(1))
	e.Session, e.OID, e.Time = "demo", oid(1, 1), epoch
	twin := Node{OID: e.OID, Parents: []name.OID{nodes[0].OID, nodes[0].OID}, Event: &e}
	l := mustLog(t, append(append(nodes, twin, twin), nodes...), twin.OID)
	want(t, l.Fold(), "live 1,2 at 2")
	if l.Len() != 2 {
		t.Error("length is", l.Len())
	}
}

// Nodes that the tip does not reach are left out.
func TestUnreachedNodesAreLeftOut(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	a.create(1)
	b.pull(a)
	a.create(2)
	b.create(3)
	l := mustLog(t, append(a.log.Nodes(), b.log.Nodes()...), a.log.Tip().OID)
	want(t, l.Fold(), "live 1,2 at 2")
	if l.Contains(b.log.Tip().OID) || !l.Contains(a.log.Tip().OID) {
		t.Error("the journal does not know what it holds")
	}
}
