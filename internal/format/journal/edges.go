package journal

import "slices"

// edges holds the parents of every node. Parents always have smaller numbers than their children.
type edges struct {
	start []int32 // has the bounds of the parents of each node: those of node i are to[start[i]:start[i+1]]
	to    []int32
}

// len returns the number of nodes.
func (e *edges) len() int { return max(0, len(e.start)-1) }

// parentsOf returns the parents of node i. The caller must not change the slice.
func (e *edges) parentsOf(i int32) []int32 { return e.to[e.start[i]:e.start[i+1]] }

// parent adds a parent of the node that the next call of end completes. A commit that names a
// parent twice has it twice here, and is twice among its children.
func (e *edges) parent(p int32) { e.to = append(e.to, p) }

// end completes a node with the parents that were added since the last call.
func (e *edges) end() {
	if len(e.start) == 0 {
		e.start = append(e.start, 0)
	}
	e.start = append(e.start, int32(len(e.to)))
}

// isLine reports whether every node has the one before it as its only parent, as in a journal that
// one clone wrote alone.
func (e *edges) isLine() bool {
	for i := range int32(e.len()) {
		if parents := e.parentsOf(i); len(parents) != int(min(i, 1)) || i > 0 && parents[0] != i-1 {
			return false
		}
	}
	return true
}

// reversed returns the children of every node, in the same form as the parents. It counts the
// children of each node, turns the counts into bounds, and then fills in the children.
func (e *edges) reversed() edges {
	n := int32(e.len())
	r := edges{start: make([]int32, n+1)}
	for i := range n {
		for _, p := range e.parentsOf(i) {
			r.start[p+1]++
		}
	}
	for i := range n {
		r.start[i+1] += r.start[i]
	}
	r.to = make([]int32, r.start[n])
	next := slices.Clone(r.start)
	for i := range n {
		for _, p := range e.parentsOf(i) {
			r.to[next[p]] = i
			next[p]++
		}
	}
	return r
}

// permuted renumbers the nodes: node i of the result is node order[i] of e. order must keep parents
// before children.
func (e *edges) permuted(order []int32) edges {
	at := make([]int32, len(order))
	for i, o := range order {
		at[o] = int32(i)
	}
	var r edges
	for _, o := range order {
		for _, p := range e.parentsOf(o) {
			r.to = append(r.to, at[p])
		}
		r.end()
	}
	return r
}
