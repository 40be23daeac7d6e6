package journal

import "slices"

// graph answers questions about ancestors, by position in the order of the fold.
//
// In a journal that one clone wrote, or several clones that synced before they went on, nearly
// every event descends from all events before it. low answers questions about such events at once.
// Questions about concurrent events are collected and answered 64 at a time, by one pass over the
// positions concerned in which each node inherits a 64-bit word from its parents (sweep).
type graph struct {
	edges edges   // parents by position
	low   []int32 // every position below low[i] is an ancestor of i
}

// newGraph computes low. A node inherits the best bound of its parents, and a parent whose bound is
// its own position descends from all before it, so the bound of its child includes the parent
// itself.
func newGraph(e edges) graph {
	g := graph{edges: e, low: make([]int32, e.len())}
	hasChild := make([]bool, e.len())
	heads := 0
	for i := range int32(e.len()) {
		for _, p := range e.of(i) {
			if !hasChild[p] {
				hasChild[p] = true
				heads--
			}
			below := g.low[p]
			if below == p {
				below = p + 1
			}
			g.low[i] = max(g.low[i], below)
		}
		// heads counts the nodes without a child so far. If i is the only one, all others are its
		// ancestors.
		if heads++; heads == 1 {
			g.low[i] = i
		}
	}
	return g
}

// answer is what low can say about two positions.
type answer int

const (
	no answer = iota
	yes
	unsure // only a walk over the graph can tell
)

// descends answers whether a is an ancestor of b, as far as low knows.
func (g *graph) descends(b, a int32) answer {
	switch {
	case a >= b:
		return no
	case a < g.low[b]:
		return yes
	}
	return unsure
}

// lane is one question for sweep: which positions, up to and including until, are among sources or
// descend from one of them?
type lane struct {
	sources []int32
	until   int32
}

// sweep answers the lanes, 64 at a time: bit k of a word belongs to lane k of a batch. After each
// batch it calls visit with the index of the batch's first lane, the number of lanes, and a
// function that returns the word of a position. A bit is set if some source of that lane is the
// position itself or one of its ancestors. The function is valid during the call only.
func (g *graph) sweep(lanes []lane, visit func(first, count int, reached func(int32) uint64)) {
	var words []uint64
	for first := 0; first < len(lanes); first += 64 {
		batch := lanes[first:min(first+64, len(lanes))]
		// No position before the first source can descend from one, and none after until is asked
		// for.
		base, until := batch[0].sources[0], int32(0)
		for _, l := range batch {
			base, until = min(base, slices.Min(l.sources)), max(until, l.until)
		}
		if size := int(until-base) + 1; cap(words) < size {
			words = make([]uint64, size)
		} else {
			words = words[:max(size, 0)]
			clear(words)
		}
		for bit, l := range batch {
			for _, s := range l.sources {
				if s <= until {
					words[s-base] |= 1 << bit
				}
			}
		}
		for i := base; i <= until; i++ {
			for _, p := range g.edges.of(i) {
				if p >= base {
					words[i-base] |= words[p-base]
				}
			}
		}
		visit(first, len(batch), func(i int32) uint64 {
			if i < base || i > until {
				return 0
			}
			return words[i-base]
		})
	}
}

// past returns a set, by position, of i and its ancestors.
func (g *graph) past(i int32) []bool {
	mark := make([]bool, i+1)
	mark[i] = true
	for ; i >= 0; i-- {
		if !mark[i] {
			continue
		}
		for _, p := range g.edges.of(i) {
			mark[p] = true
		}
	}
	return mark
}

// future returns a set, by position, of the descendants of i, without i itself.
func (g *graph) future(i int32) []bool {
	mark := make([]bool, g.edges.len())
	for j := i + 1; j < int32(len(mark)); j++ {
		for _, p := range g.edges.of(j) {
			if p == i || mark[p] {
				mark[j] = true
				break
			}
		}
	}
	return mark
}
