package journal

import (
	"fmt"
	"iter"
	"slices"

	"git-checkpoint/internal/format/name"
)

// MaxNodes is the maximum number of commits in a journal. It bounds the time and memory that a
// hostile journal can cost.
const MaxNodes = 1 << 20

// Log is a journal in memory: a tip and all its ancestors. A Log can grow, but the commits that it
// has never change. It is not safe for use by several goroutines at once.
//
// A node is identified by its number, its index in nodes. The order of the fold is usually the
// same. Where it is not, because clones worked at the same time, order maps a position in the fold
// to a number.
type Log struct {
	nodes []node             // parents before children; the tip is last. The cache is written in this order.
	data  []byte             // the cache that was decoded; nodes without own point into it
	edges edges              // the parents of each node, by number
	order []int32            // the number of each position of the fold; nil: position and number are equal
	at    map[name.OID]int32 // numbers by commit id; made when first needed
}

// NewLog makes a journal of the nodes that tip reaches, and ignores the others. The nodes may be in
// any order. It is an error if tip or a parent is not among them.
func NewLog(nodes []Node, tip name.OID) (*Log, error) {
	l := &Log{}
	if err := l.grow(nodes, tip); err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	return l, nil
}

// Extend moves the journal forward to tip, which must be a descendant of the present tip. nodes
// must hold at least all commits that are new. After an error the journal is unchanged.
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

// Tip returns the newest commit, the one that all others are ancestors of.
func (l *Log) Tip() Tip {
	i := int32(len(l.nodes) - 1)
	return Tip{l.oid(i), l.committed(i)}
}

// Contains reports whether oid is the tip or one of its ancestors.
func (l *Log) Contains(oid name.OID) bool {
	if oid == l.Tip().OID {
		return true
	}
	_, ok := l.index()[oid]
	return ok
}

// Session returns the session that the journal's events name.
func (l *Log) Session() name.Session {
	for _, n := range l.events() {
		return n.session
	}
	return ""
}

// Len returns the number of nodes, including merges. AppendTo counts by it.
func (l *Log) Len() int { return len(l.nodes) }

// Nodes returns all commits of the journal, parents before children, the tip last.
func (l *Log) Nodes() []Node {
	nodes := make([]Node, len(l.nodes))
	for i := range nodes {
		nodes[i] = l.node(int32(i))
	}
	return nodes
}

// Heads returns the newest events, those that no other event descends from. There is one, unless
// the tip is a merge.
func (l *Log) Heads() []name.OID {
	var heads []name.OID
	open := map[int32]bool{int32(len(l.nodes) - 1): true}
	// Parents have smaller numbers, so one pass downwards visits each open node after the node that
	// opened it.
	for i := int32(len(l.nodes) - 1); len(open) > 0; i-- {
		if !open[i] {
			continue
		}
		delete(open, i)
		if l.nodes[i].class != classMerge {
			heads = append(heads, l.oid(i))
			continue
		}
		for _, p := range l.edges.parentsOf(i) {
			open[p] = true
		}
	}
	return heads
}

// Events returns the events of the journal in the order of the fold, without merges.
func (l *Log) Events() []*Event {
	events := make([]*Event, 0, len(l.nodes))
	for at := range l.events() {
		events = append(events, l.event(at))
	}
	return events
}

// events iterates over the numbers and nodes of the events, in the order of the fold.
func (l *Log) events() iter.Seq2[int32, *node] {
	return func(yield func(int32, *node) bool) {
		for i := range l.nodes {
			at := l.position(i)
			if n := &l.nodes[at]; n.class != classMerge && !yield(at, n) {
				return
			}
		}
	}
}

// position returns the number of the node at position i of the fold's order.
func (l *Log) position(i int) int32 {
	if l.order == nil {
		return int32(i)
	}
	return l.order[i]
}

// index returns the numbers of the nodes by commit id.
func (l *Log) index() map[name.OID]int32 {
	if l.at == nil {
		l.at = make(map[name.OID]int32, len(l.nodes))
		for i := range l.nodes {
			l.at[l.oid(int32(i))] = int32(i)
		}
	}
	return l.at
}

// follows reports whether nodes form a line from the present tip to the new one, which is what
// nearly every Extend gets. All known events are ancestors of these, so the nodes also come last in
// the order of the fold, and nothing has to be sorted.
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

// append adds nodes, each of which must have the node before it as its only parent.
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

// grow adds the nodes that tip reaches and the journal lacks. After an error l is as it was.
func (l *Log) grow(nodes []Node, tip name.OID) error {
	fresh, err := l.reach(nodes, tip)
	if err != nil {
		return err
	}
	numbers := l.index()
	for _, n := range fresh {
		for _, p := range n.Parents {
			l.edges.parent(numbers[p])
		}
		l.edges.end()
		numbers[n.OID] = int32(len(l.nodes))
		l.nodes = append(l.nodes, newNode(n))
	}
	l.sort()
	return nil
}

// clipped returns a copy that can be appended to while others read l. The clipped slices have no
// spare capacity, so the first append to each copies it.
func (l *Log) clipped() *Log {
	return &Log{
		nodes: slices.Clip(l.nodes), data: l.data, order: slices.Clip(l.order),
		edges: edges{start: slices.Clip(l.edges.start), to: slices.Clip(l.edges.to)},
	}
}

// sort computes order. It is nil if that is the order of the nodes, which is the cheaper form.
func (l *Log) sort() {
	l.order = nil
	if l.edges.isLine() {
		return
	}
	order := foldOrder(l)
	for i, o := range order {
		if int32(i) != o {
			l.order = order
			return
		}
	}
}
