package journal

import (
	"fmt"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
)

// full makes a node like that of a real create, and a rollback for every fiftieth.
func full(i int, parents ...name.OID) Node {
	e := checkpoint(KindCreate, i, id(max(i-1, 0)))
	e.Format, e.Session, e.Actor, e.Worktree, e.WorktreeID = Format, "demo", actor, "main", "4f2a9c1b"
	e.Commit, e.Record = oid(4, i), fmt.Sprintf("sha256:%064x", i)
	if i%50 == 49 {
		e = Event{Format: Format, Kind: KindRollback, Session: "demo", Actor: actor, Worktree: "main", WorktreeID: "4f2a9c1b",
			From: id(i - 1), To: id(i - 4), Safety: id(i - 2), Mode: "all", Discard: []name.ID{id(i - 3), id(i - 1)}, Reason: "tests fail"}
	}
	e.OID, e.Parents, e.Time = oid(3, i), parents, epoch.Add(time.Duration(i)*1500*time.Millisecond)
	return Node{OID: e.OID, Parents: parents, Event: &e, CommitterTime: e.Time.Truncate(time.Second)}
}

// line makes a journal that one clone wrote.
func line(n int) []Node {
	nodes := []Node{full(0)}
	for i := 1; i < n; i++ {
		nodes = append(nodes, full(i, nodes[i-1].OID))
	}
	return nodes
}

// braid makes a journal of several clones, each of which works alone for a while and then merges
// with the next one.
func braid(n, clones, stretch int) []Node {
	nodes := []Node{full(0)}
	tips := make([]Tip, clones)
	for i := range tips {
		tips[i] = Tip{nodes[0].OID, nodes[0].CommitterTime}
	}
	for i := 1; len(nodes) < n; i++ {
		c := i % clones
		node := full(i, tips[c].OID)
		nodes = append(nodes, node)
		tips[c] = Tip{node.OID, node.CommitterTime}
		if i/clones%stretch == 0 {
			m := MergeOf(tips[c], tips[(c+1)%clones]).Node(oid(5, i))
			nodes = append(nodes, m)
			tips[c] = Tip{m.OID, m.CommitterTime}
			tips[(c+1)%clones] = tips[c]
		}
	}
	for i := 1; i < clones; i++ {
		if tips[i] != tips[0] {
			m := MergeOf(tips[0], tips[i]).Node(oid(6, i))
			nodes = append(nodes, m)
			tips[0] = Tip{m.OID, m.CommitterTime}
		}
	}
	return nodes
}

// fan makes a hostile journal: all events are concurrent, and rollbacks and prunes list all
// checkpoints.
func fan(n int) []Node {
	nodes := []Node{full(0)}
	for i := 1; i < n; i++ {
		node := full(i, nodes[0].OID)
		switch i % 10 {
		case 7:
			*node.Event = Event{OID: node.OID, Kind: KindPin, Session: "demo", Checkpoint: id(1), Time: node.Event.Time}
		case 8:
			*node.Event = Event{OID: node.OID, Kind: KindPrune, Session: "demo", Tombstones: []Tombstone{{ID: id(1)}}, Time: node.Event.Time}
		case 9:
			*node.Event = Event{OID: node.OID, Kind: KindRollback, Session: "demo", To: id(0), Time: node.Event.Time}
			for j := range 100 {
				node.Event.Discard = append(node.Event.Discard, id(i*j%n))
			}
		}
		nodes = append(nodes, node)
	}
	nodes, _ = join2(nodes, 7)
	return nodes
}

func shapes() map[string]func() []Node {
	return map[string]func() []Node{
		"line":          func() []Node { return line(10_000) },
		"braid":         func() []Node { return braid(10_000, 5, 8) },
		"long-branches": func() []Node { return braid(10_000, 4, 100_000) },
		"fan":           func() []Node { return fan(10_000) },
	}
}

func BenchmarkFold(b *testing.B) {
	for what, build := range shapes() {
		nodes := build()
		l := mustLog(b, nodes, nodes[len(nodes)-1].OID)
		b.Run(what, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.Fold()
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for what, build := range shapes() {
		nodes := build()
		data := mustLog(b, nodes, nodes[len(nodes)-1].OID).Encode()
		b.Run(what, func(b *testing.B) {
			b.ReportAllocs()
			b.ReportMetric(float64(len(data))/float64(len(nodes)), "B/node")
			for b.Loop() {
				if _, err := Decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNewLog(b *testing.B) {
	for what, build := range shapes() {
		nodes := build()
		b.Run(what, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mustLog(b, nodes, nodes[len(nodes)-1].OID)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	n := full(1)
	author, m := Stamp(actor, n.Event.Time), n.Event.Message()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(n.OID, nil, author, m); err != nil {
			b.Fatal(err)
		}
	}
}

// One more event on top of a cached journal, which is what every command pays for.
func BenchmarkExtendByOne(b *testing.B) {
	nodes := line(10_000)
	data := mustLog(b, nodes[:9_999], nodes[9_998].OID).Encode()
	for b.Loop() {
		l, err := Decode(data)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Extend(nodes[9_999:], nodes[9_999].OID); err != nil {
			b.Fatal(err)
		}
		l.Fold()
		l.AppendTo(nil, 9_999)
	}
}

func BenchmarkPlans(b *testing.B) {
	nodes := braid(10_000, 5, 8)
	s := mustLog(b, nodes, nodes[len(nodes)-1].OID).Fold()
	for b.Loop() {
		if _, _, _, err := s.RollbackPlan(id(3000)); err != nil {
			b.Fatal(err)
		}
		if _, err := s.PlanUndoOf(undoTarget(s, "4f2a9c1b")); err != nil {
			b.Fatal(err)
		}
	}
}
