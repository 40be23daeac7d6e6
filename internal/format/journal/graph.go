package journal

// graph answers questions about ancestors, by position in the order of the fold.
//
// In a journal that one clone wrote, or several clones that synced before they went on, nearly
// every event descends from all events before it. low answers questions about such events at once.
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
		for _, p := range e.parentsOf(i) {
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

// ancestors returns a function that reports whether the event at a position is an ancestor of the
// one at i. For what low cannot tell it walks back from i, only as far as is asked for.
func (g *graph) ancestors(i int32) func(a int32) bool {
	low, next := g.low[i], i
	var reached []bool // from low on; final down to next
	return func(a int32) bool {
		if a < low || a >= i {
			return a < low
		}
		if reached == nil {
			reached = make([]bool, i-low+1)
			reached[i-low] = true
		}
		for ; next > a; next-- {
			if !reached[next-low] {
				continue
			}
			for _, p := range g.edges.parentsOf(next) {
				if p >= low {
					reached[p-low] = true
				}
			}
		}
		return reached[a-low]
	}
}

// future returns a set, by position, of the descendants of i, without i itself.
func (g *graph) future(i int32) []bool {
	mark := make([]bool, g.edges.len())
	for j := i + 1; j < int32(len(mark)); j++ {
		for _, p := range g.edges.parentsOf(j) {
			if p == i || mark[p] {
				mark[j] = true
				break
			}
		}
	}
	return mark
}
