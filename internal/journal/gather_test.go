package journal

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/name"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// commitOf is a node as git stores it.
func commitOf(n Node) Commit {
	c := Commit{OID: n.OID, Parents: n.Parents, Tree: EmptyTreeSHA1}
	if n.Event == nil {
		c.Author = Stamp(mergeIdentity, n.CommitterTime)
		c.Committer, c.Message = c.Author, mergeMessage
		return c
	}
	c.Author = Stamp(n.Event.Actor, n.Event.Time)
	c.Committer, c.Message = c.Author, n.Event.Message()
	return c
}

// drawMet gives the commits of a journal in an order in which each comes before its parents.
func drawMet(t *rapid.T, commits []Commit) []Commit {
	children := map[name.OID]int{}
	by := map[name.OID]Commit{}
	for _, c := range commits {
		by[c.OID] = c
		for _, p := range c.Parents {
			children[p]++
		}
	}
	var met, ready []Commit
	for _, c := range commits {
		if children[c.OID] == 0 {
			ready = append(ready, c)
		}
	}
	for len(ready) > 0 {
		i := rapid.IntRange(0, len(ready)-1).Draw(t, "next")
		c := ready[i]
		ready = slices.Delete(ready, i, i+1)
		met = append(met, c)
		for _, p := range c.Parents {
			if children[p]--; children[p] == 0 {
				ready = append(ready, by[p])
			}
		}
	}
	return met
}

// sortedNodes are those of a journal by their ids: merges have no place of their own.
func sortedNodes(l *Log) []Node {
	nodes := l.Nodes()
	for i := range nodes {
		if e := nodes[i].Event; e != nil {
			e := normal(*e)
			nodes[i].Event = &e
		}
	}
	slices.SortFunc(nodes, func(a, b Node) int { return strings.Compare(string(a.OID), string(b.OID)) })
	return nodes
}

// A journal that is gathered on the way from its tip is the one that is made of its nodes.
func TestGathering(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var nodes []Node
		switch rapid.IntRange(0, 2).Draw(t, "shape") {
		case 0:
			nodes = line(rapid.SampledFrom([]int{1, 2, 60, block + 30}).Draw(t, "size"))
		case 1:
			nodes = braid(rapid.IntRange(1, 80).Draw(t, "size"), rapid.IntRange(2, 4).Draw(t, "clones"), rapid.IntRange(1, 5).Draw(t, "stretch"))
		default:
			nodes, _ = drawDAG(t, 40)
		}
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			e := nodes[rapid.IntRange(0, len(nodes)-1).Draw(t, "node")].Event
			if e == nil {
				continue
			}
			switch rapid.IntRange(0, 5).Draw(t, "change") {
			case 0:
				e.Session = "other"
			case 1:
				e.Milestone = !e.Milestone
			case 2:
				e.Extra = append(e.Extra, Trailer{"X", drawKept(t)})
			case 3:
				e.Label, e.Step = drawKept(t), rapid.IntRange(0, maxStep).Draw(t, "step")
			case 4:
				e.Actor = "Eve <eve@example.com>"
			default:
				e.Format = Format + 1
			}
		}
		var commits []Commit
		for i, n := range nodes {
			slices.Sort(n.Parents)
			c := commitOf(n)
			parsed, err := ParseCommit(c)
			if err != nil {
				t.Fatal(err)
			}
			nodes[i], commits = parsed, append(commits, c)
		}
		want := mustLog(t, nodes, nodes[len(nodes)-1].OID)
		var g Gathering
		for _, c := range drawMet(t, commits) {
			if err := g.Add(c); err != nil {
				t.Fatal(err)
			}
		}
		got, err := g.Log()
		if err != nil {
			t.Fatal(err)
		}
		if want.Tip() != got.Tip() {
			t.Fatal("tips:", want.Tip(), got.Tip())
		}
		if d := cmp.Diff(portray(want.Fold()), portray(got.Fold())); d != "" {
			t.Fatal("fold:", d)
		}
		if d := cmp.Diff(sortedNodes(want), sortedNodes(got)); d != "" {
			t.Fatal("nodes:", d)
		}
		back, err := Decode(got.Encode())
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, back)
		for i, e := range want.Fold().Checkpoints() {
			if x := got.Fold().At(i); x.Checkpoint != e.Checkpoint || x.Label != e.Label || x.Event().Previous != e.Event().Previous {
				t.Fatalf("%+v is %+v", e, x)
			}
		}
	})
}

// What a commit lies in goes when it was taken, and little stays of it.
func TestGatheringIsSmall(t *testing.T) {
	const count, size = 300, 1 << 20
	nodes := line(count)
	var g Gathering
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i := range slices.Backward(nodes) {
		c := commitOf(nodes[i])
		whole := strings.Repeat("x", size) + c.Message + c.Author + string(c.OID)
		c.Message, c.Author, c.OID = whole[size:size+len(c.Message)], whole[size+len(c.Message):len(whole)-len(c.OID)], name.OID(whole[len(whole)-len(c.OID):])
		if i > 0 {
			whole := strings.Repeat("x", size) + string(nodes[i-1].OID)
			c.Parents = []name.OID{name.OID(whole[size:])}
		}
		if err := g.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	if kept := heap() - before; kept > 16*size {
		t.Errorf("%d commits keep %d bytes", count, kept)
	}
	if perNode := len(g.data) / count; perNode > 200 {
		t.Errorf("a create takes %d bytes", perNode)
	}
	runtime.KeepAlive(&g)
}

func TestGatheringRefuses(t *testing.T) {
	nodes := line(3)
	var g Gathering
	bad := commitOf(nodes[2])
	bad.Message = "fix: typo\n"
	if err := g.Add(bad); err == nil {
		t.Error("it took a user's commit")
	}
	if err := g.Add(commitOf(nodes[2])); err != nil {
		t.Fatal(err)
	}
	_, err := g.Log()
	if want := fmt.Sprintf("%q, parent of %q, is missing", nodes[1].OID, nodes[2].OID); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("without the rest: %v", err)
	}
}
