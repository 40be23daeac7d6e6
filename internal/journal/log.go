package journal

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"git-checkpoint/internal/name"
)

// MaxNodes bounds a journal, so that a hostile one ends in an error and not in a
// night of work.
const MaxNodes = 1 << 20

// Log is a journal: a tip and all its ancestors, in an order that is ready for the
// fold. It grows and never changes what it holds. It is not safe for use by several
// goroutines at once.
type Log struct {
	nodes []node // parents first; the tip is last. The cache appends in this order.
	data  []byte // the records of those that have no other form
	edges edges
	order []int32            // the fold's order; nil when nodes have it themselves
	at    map[name.OID]int32 // made when first needed
}

// MissingError names a commit that a journal needs and that was not given.
type MissingError struct {
	OID   name.OID
	Child name.OID // the commit that has it as a parent; empty when OID is the tip
}

// Error is the hole in one sentence.
func (e *MissingError) Error() string {
	if e.Child == "" {
		return fmt.Sprintf("the journal's tip %q is missing", e.OID)
	}
	return fmt.Sprintf("the journal has a hole: %q, parent of %q, is missing", e.OID, e.Child)
}

// NewLog makes a journal of the nodes that tip reaches; others are left out. A
// parent that is not among the nodes is a *MissingError.
func NewLog(nodes []Node, tip name.OID) (*Log, error) {
	l := &Log{}
	if err := l.grow(nodes, tip); err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	return l, nil
}

// Extend moves the journal forward to tip, of which the present tip must be an
// ancestor. After an error the journal is what it was.
func (l *Log) Extend(nodes []Node, tip name.OID) error {
	switch {
	case tip == l.Tip().OID:
		return nil
	case l.follows(nodes, tip):
		l.append(nodes)
		return nil
	case l.Contains(tip):
		return fmt.Errorf("extend journal: %q is older than its tip %q", tip, l.Tip().OID)
	}
	if err := l.grow(nodes, tip); err != nil {
		return fmt.Errorf("extend journal: %w", err)
	}
	return nil
}

// Tip is the newest commit, of which all others are ancestors.
func (l *Log) Tip() Tip {
	i := int32(len(l.nodes) - 1)
	committed := l.committed(i)
	if committed.IsZero() && l.nodes[i].class != classMerge {
		committed = time.UnixMilli(l.nodes[i].time).UTC().Truncate(time.Second) // not parsed, just made
	}
	return Tip{l.oid(i), committed}
}

// Contains reports whether oid is the tip or one of its ancestors.
func (l *Log) Contains(oid name.OID) bool {
	if oid == l.Tip().OID {
		return true
	}
	_, ok := l.index()[oid]
	return ok
}

// Len is the number of nodes, merges included. It is what AppendTo counts by.
func (l *Log) Len() int { return len(l.nodes) }

// Nodes are the journal's commits, parents before children, the tip last.
func (l *Log) Nodes() []Node {
	nodes := make([]Node, len(l.nodes))
	for i := range nodes {
		nodes[i] = l.node(int32(i))
	}
	return nodes
}

// Heads are the newest events, of which no other is a descendant: the tip may be a merge.
func (l *Log) Heads() []name.OID {
	var heads []name.OID
	open := map[int32]bool{int32(len(l.nodes) - 1): true}
	for i := int32(len(l.nodes) - 1); len(open) > 0; i-- {
		if !open[i] {
			continue
		}
		delete(open, i)
		if l.nodes[i].class != classMerge {
			heads = append(heads, l.oid(i))
			continue
		}
		for _, p := range l.edges.of(i) {
			open[p] = true
		}
	}
	return heads
}

// Events are the journal's events in the order of the fold.
func (l *Log) Events() []*Event {
	events := make([]*Event, 0, len(l.nodes))
	for i := range l.nodes {
		if e := l.event(l.position(i)); e != nil {
			events = append(events, e)
		}
	}
	return events
}

// position is where the i-th node of the fold's order stands.
func (l *Log) position(i int) int32 {
	if l.order == nil {
		return int32(i)
	}
	return l.order[i]
}

func (l *Log) index() map[name.OID]int32 {
	if l.at == nil {
		l.at = make(map[name.OID]int32, len(l.nodes))
		for i := range l.nodes {
			l.at[l.oid(int32(i))] = int32(i)
		}
	}
	return l.at
}

// follows reports whether nodes are a line from the present tip to the new one, the
// ordinary case. Everything known is an ancestor of each of them, so they come last
// in the order too.
func (l *Log) follows(nodes []Node, tip name.OID) bool {
	if len(nodes) == 0 || nodes[len(nodes)-1].OID != tip || len(l.nodes)+len(nodes) > MaxNodes {
		return false
	}
	at := l.Tip().OID
	for i := range nodes {
		if len(nodes[i].Parents) != 1 || nodes[i].Parents[0] != at {
			return false
		}
		at = nodes[i].OID
	}
	return true
}

// append adds nodes of which each has the one before it as its only parent.
func (l *Log) append(nodes []Node) {
	for i := range nodes {
		at := int32(len(l.nodes))
		l.edges.parent(at - 1)
		l.edges.end()
		l.nodes = append(l.nodes, newNode(nodes[i]))
		if l.order != nil {
			l.order = append(l.order, at)
		}
		if l.at != nil {
			l.at[nodes[i].OID] = at
		}
	}
}

// grow adds the nodes that tip reaches and the journal lacks, parents first, and
// orders everything anew.
func (l *Log) grow(nodes []Node, tip name.OID) error {
	fresh, err := l.reach(nodes, tip)
	if err != nil {
		return err
	}
	known, added := l.index(), make(map[name.OID]int32, len(fresh))
	grown := Log{nodes: l.nodes, data: l.data, edges: l.edges, at: known}
	for _, n := range fresh {
		for _, p := range n.Parents {
			at, ok := known[p]
			if !ok {
				at = added[p]
			}
			grown.edges.parent(at)
		}
		grown.edges.end()
		added[n.OID] = int32(len(grown.nodes))
		grown.nodes = append(grown.nodes, newNode(n))
	}
	if len(known) > 0 {
		if grown.order, err = foldOrder(&grown); err != nil {
			return err
		}
		grown.settle()
	}
	if len(known) == 0 {
		grown.at = added
	} else {
		maps.Copy(known, added)
	}
	*l = grown
	return nil
}

// clipped is the journal, ready to be appended to while others read this one.
func (l *Log) clipped() *Log {
	return &Log{
		nodes: slices.Clip(l.nodes), data: l.data, order: slices.Clip(l.order),
		edges: edges{from: l.edges.from, line: l.edges.line, start: slices.Clip(l.edges.start), to: slices.Clip(l.edges.to)},
	}
}

// settle forgets an order that the nodes have themselves.
func (l *Log) settle() {
	for i, o := range l.order {
		if int32(i) != o {
			return
		}
	}
	l.order = nil
}
