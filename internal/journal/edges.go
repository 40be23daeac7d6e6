package journal

import "slices"

// edges holds the parents of every node. Parents always have smaller numbers than their children.
//
// A journal that one clone wrote alone is a line: each node is the only child of the one before it.
// This first stretch is stored as its length only. From the first node that is not part of the line
// on, the parents are stored in compressed sparse row form, in start and to.
type edges struct {
	// from is the number of the first node in the journal, 0 except while parts of a cache are
	// decoded in parallel. Parents are numbers in the journal, indexes of nodes count from here.
	from int32
	// line is the number of nodes at the beginning whose only parent is the node before them.
	line int32
	// start has the bounds of the parents of each further node: those of node line+k are
	// to[start[k]:start[k+1]]. It is empty as long as all nodes are in the line.
	start []int32
	to    []int32
}

// len returns the number of nodes.
func (e *edges) len() int { return int(e.line) + max(0, len(e.start)-1) }

// of returns the parents of node i. The caller must not change the slice.
func (e *edges) of(i int32) []int32 {
	if i >= e.line {
		return e.to[e.start[i-e.line]:e.start[i-e.line+1]]
	}
	if before := e.from + i - 1; before >= 0 {
		return []int32{before}
	}
	return nil
}

// parent adds a parent of the node that the next call of end completes. A commit that names a
// parent twice has it twice here, and is twice among its children.
func (e *edges) parent(p int32) { e.to = append(e.to, p) }

// end completes a node with the parents that were added since the last call. It extends the line if
// the node continues it, and else leaves the line for good.
func (e *edges) end() {
	before := e.from + e.line - 1
	switch {
	case len(e.start) > 0:
	case before < 0 && len(e.to) == 0, before >= 0 && len(e.to) == 1 && e.to[0] == before:
		e.line, e.to = e.line+1, e.to[:0]
		return
	default:
		e.start = append(e.start, 0)
	}
	e.start = append(e.start, int32(len(e.to)))
}

// join appends the nodes of next, which must follow those of e in the journal.
func (e *edges) join(next edges) {
	if len(e.start)+len(next.start) == 0 {
		e.line += next.line
		return
	}
	for i := range int32(next.len()) {
		e.to = append(e.to, next.of(i)...)
		e.end()
	}
}

// reversed returns the children of every node, in the same form as the parents. It counts the
// children of each node, turns the counts into bounds, and then fills in the children.
func (e *edges) reversed() edges {
	n := int32(e.len())
	r := edges{start: make([]int32, n+1)}
	for i := range n {
		for _, p := range e.of(i) {
			r.start[p+1]++
		}
	}
	for i := range n {
		r.start[i+1] += r.start[i]
	}
	r.to = make([]int32, r.start[n])
	next := slices.Clone(r.start)
	for i := range n {
		for _, p := range e.of(i) {
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
		for _, p := range e.of(o) {
			r.to = append(r.to, at[p])
		}
		r.end()
	}
	return r
}
