package journal

import "slices"

// edges holds the parents of every node by position. A position's parents always come
// before it. Of a journal that one clone wrote alone nothing has to be held.
type edges struct {
	from  int32   // what position 0 is in the journal, whose numbers the parents have
	line  int32   // so many are each the only child of the one before it
	start []int32 // of those behind these: to[start[i]:start[i+1]] are the i-th one's
	to    []int32
}

func (e *edges) len() int { return int(e.line) + max(0, len(e.start)-1) }

func (e *edges) of(i int32) []int32 {
	if i >= e.line {
		return e.to[e.start[i-e.line]:e.start[i-e.line+1]]
	}
	if before := e.from + i - 1; before >= 0 {
		return []int32{before}
	}
	return nil
}

// parent adds a parent of the node that the next call of end finishes. One that a
// commit names twice is here twice, as a parent and as a child.
func (e *edges) parent(p int32) { e.to = append(e.to, p) }

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

// join appends the nodes of another, which come next in the journal.
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

// reversed gives the children of every node in the same form.
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

// permuted renumbers the nodes: position i of the result is order[i] of e.
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
