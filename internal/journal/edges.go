package journal

// edges holds the parents of every node by position, flat: those of i are
// to[start[i]:start[i+1]]. A position's parents always come before it.
type edges struct {
	start []int32
	to    []int32
}

func newEdges(nodes int) edges {
	return edges{start: append(make([]int32, 0, nodes+1), 0), to: make([]int32, 0, nodes)}
}

func (e *edges) len() int { return len(e.start) - 1 }

func (e *edges) of(i int32) []int32 { return e.to[e.start[i]:e.start[i+1]] }

// parent adds a parent of the node that the next call of end finishes. One that a
// commit names twice is here twice, as a parent and as a child.
func (e *edges) parent(p int32) { e.to = append(e.to, p) }

func (e *edges) end() { e.start = append(e.start, int32(len(e.to))) }

// join appends the nodes of another, whose parents are numbered as here.
func (e *edges) join(next edges) {
	before := int32(len(e.to)) //nolint:gosec // a journal has at most MaxNodes
	e.to = append(e.to, next.to...)
	for _, at := range next.start[1:] {
		e.start = append(e.start, before+at)
	}
}

// reversed gives the children of every node in the same form.
func (e *edges) reversed() edges {
	n := e.len()
	r := edges{start: make([]int32, n+1), to: make([]int32, len(e.to))}
	for _, p := range e.to {
		r.start[p+1]++
	}
	for i := range n {
		r.start[i+1] += r.start[i]
	}
	next := make([]int32, n)
	copy(next, r.start)
	for i := range int32(n) {
		for _, p := range e.of(i) {
			r.to[next[p]] = i
			next[p]++
		}
	}
	return r
}

// permuted renumbers the nodes: position i of the result is order[i] of e.
func (e *edges) permuted(order []int32) edges {
	at := make([]int32, len(order))
	for i, o := range order {
		at[o] = int32(i)
	}
	r := newEdges(len(order))
	for _, o := range order {
		for _, p := range e.of(o) {
			r.to = append(r.to, at[p])
		}
		r.end()
	}
	return r
}
