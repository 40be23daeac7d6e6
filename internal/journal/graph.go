package journal

import "slices"

// graph answers questions about ancestors, by position in the order of the fold.
//
// In a journal that one clone wrote, or several that synced before they went on,
// nearly every question is "did all that came before": low answers these at once.
// The others, about events that were concurrent, are answered 64 at a time by one
// pass over the stretch they are about.
type graph struct {
	edges edges
	low   []int32 // every position below low[i] is an ancestor of i
}

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
		// The only one without a child descends from all others.
		if heads++; heads == 1 {
			g.low[i] = i
		}
	}
	return g
}

// answer is what low knows about two positions.
type answer int

const (
	no answer = iota
	yes
	unsure
)

// descends answers whether a is an ancestor of b, as far as that is cheap.
func (g *graph) descends(b, a int32) answer {
	switch {
	case a >= b:
		return no
	case a < g.low[b]:
		return yes
	}
	return unsure
}

// lane is a set of positions and the last one whose descent from them is asked.
type lane struct {
	sources []int32
	until   int32
}

// sweep goes over the lanes, 64 at a time. visit gets the first of them, how many,
// and for a position the set of lanes, as bits, of which some source is the position
// itself or an ancestor of it.
func (g *graph) sweep(lanes []lane, visit func(first, count int, reached func(int32) uint64)) {
	var words []uint64
	for first := 0; first < len(lanes); first += 64 {
		batch := lanes[first:min(first+64, len(lanes))]
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

// past marks i and its ancestors.
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

// future marks what descends from i, without i.
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
