package journal

import (
	"math"
	"slices"
	"strings"

	"git-checkpoint/internal/name"
)

// Gathering makes a journal of its commits as they are met on the way from the tip, each
// before its parents and none twice. It keeps nothing of what it is given, and of most of
// them no more than the cache has. The zero value has met none.
type Gathering struct {
	nodes   []node // as they came
	data    []byte
	base    int32 // what creates are kept relative to, where based says that there is one
	based   bool
	event   Event                // read last
	parents []name.OID           // of the last one
	forks   map[int32][]name.OID // the parents of those that are not followed by an only parent
}

// Add takes the next commit, or refuses it as ParseCommit does.
func (g *Gathering) Add(c Commit) error {
	n, err := parseCommit(c, &g.event)
	if err != nil {
		return err
	}
	if len(g.nodes) > 0 && (len(g.parents) != 1 || g.parents[0] != c.OID) {
		g.fork()
	}
	g.parents = append(g.parents[:0], c.Parents...)
	made := node{base: g.base}
	made.tell(n.Event)
	switch plain := made.plain(len(c.Parents)) && n.Event.isShort(); {
	case plain && g.based && g.near(n.Event):
		r := relative{c.OID, n.Event, g.nodes[g.base].own.Event, 1, "", n.CommitterTime.Unix()} // what its parent names is not known yet
		made.at = uint32(len(g.data))                                                           //nolint:gosec // see near
		g.data = r.append(doubled(g.data, roomy))
		made.size = uint32(len(g.data)) - made.at //nolint:gosec // see near
	default:
		if n, err = ParseCommit(c.clone()); err != nil {
			return err
		}
		if made = newNode(n); plain {
			g.base, g.based = int32(len(g.nodes)), true //nolint:gosec // the caller stops at MaxNodes
		}
	}
	g.nodes = append(doubled(g.nodes, 1), made)
	return nil
}

// roomy is more than most records need.
const roomy = 1 << 10

// doubled gives a list room for more, twice as much as it has: the library adds a quarter
// to a long one, and leaves five times its memory behind.
func doubled[T any](list []T, more int) []T {
	if cap(list)-len(list) < more {
		list = slices.Grow(list, max(len(list), more))
	}
	return list
}

// near reports whether a create can be kept relative to the base, and there is room for it.
func (g *Gathering) near(e *Event) bool {
	return len(g.nodes)-int(g.base) < block && e.Session == g.nodes[g.base].own.Event.Session && len(g.data) < math.MaxUint32-maxRecord
}

// fork keeps the parents of the last commit.
func (g *Gathering) fork() {
	if g.forks == nil {
		g.forks = map[int32][]name.OID{}
	}
	g.forks[int32(len(g.nodes)-1)] = cloned(g.parents) //nolint:gosec // the caller stops at MaxNodes
}

// clone is the commit in memory of its own.
func (c Commit) clone() Commit {
	c.OID, c.Parents = name.OID(strings.Clone(string(c.OID))), cloned(c.Parents)
	c.Author, c.Message = strings.Clone(c.Author), strings.Clone(c.Message)
	return c
}

func cloned(oids []name.OID) []name.OID {
	oids = slices.Clone(oids)
	for i, o := range oids {
		oids[i] = name.OID(strings.Clone(string(o)))
	}
	return oids
}

// Log is the journal of all that were met, of which the first is the tip.
func (g *Gathering) Log() (*Log, error) {
	if len(g.parents)+len(g.forks) > 0 {
		g.fork() // nothing came after the last one
	}
	l := &Log{nodes: g.nodes, data: g.data}
	if count := int32(len(l.nodes)); len(g.forks) == 0 { //nolint:gosec // likewise
		slices.Reverse(l.nodes)
		for i := range l.nodes {
			l.nodes[i].base = count - 1 - l.nodes[i].base
		}
		l.edges.line = count
		return l, nil
	}
	if err := g.join(l); err != nil {
		return nil, err
	}
	order, err := foldOrder(l)
	if err != nil {
		return nil, err
	}
	return l.permuted(order), nil
}

// join finds the parents of all.
func (g *Gathering) join(l *Log) error {
	at := l.index()
	for i := range int32(len(l.nodes)) { //nolint:gosec // likewise
		parents, forked := g.forks[i]
		if !forked {
			l.edges.parent(i + 1)
		}
		for _, p := range parents {
			j, there := at[p]
			if !there {
				return &MissingError{OID: p, Child: l.oid(i)}
			}
			l.edges.parent(j)
		}
		l.edges.end()
	}
	return nil
}

// permuted is the journal with its nodes in an order in which parents come first.
func (l *Log) permuted(order []int32) *Log {
	p := &Log{nodes: make([]node, len(order)), data: l.data, edges: l.edges.permuted(order)}
	place := make([]int32, len(order))
	for i, o := range order {
		p.nodes[i], place[o] = l.nodes[o], int32(i)
	}
	for i := range p.nodes {
		p.nodes[i].base = place[p.nodes[i].base]
	}
	return p
}
