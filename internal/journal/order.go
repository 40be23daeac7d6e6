package journal

import "errors"

// foldOrder computes the order of the fold: Kahn's algorithm over all nodes, where of the events
// that are ready the one with the smallest (time, OID) comes next. It returns numbers of nodes by
// position.
//
// Merges must not influence the order, since clones may join the same events by different merges. A
// merge is therefore placed as soon as its parents are, before any waiting event. A new event is
// never an ancestor of a known one, so the relative order of known events stays the same when more
// arrive.
func foldOrder(l *Log) ([]int32, error) {
	e, n := l.edges, l.edges.len()
	children := e.reversed()
	// waiting counts the parents of each node that are not placed yet.
	waiting := make([]int32, n)
	ready := queue{log: l}
	order := make([]int32, 0, n)
	var merges []int32
	admit := func(i int32) {
		if l.nodes[i].class == classMerge {
			merges = append(merges, i)
			return
		}
		ready.push(i)
	}
	for i := range int32(n) {
		if waiting[i] = int32(len(e.of(i))); waiting[i] == 0 {
			admit(i)
		}
	}
	for len(merges) > 0 || len(ready.items) > 0 {
		var i int32
		if last := len(merges) - 1; last >= 0 {
			i, merges = merges[last], merges[:last]
		} else {
			i = ready.pop()
		}
		order = append(order, i)
		for _, child := range children.of(i) {
			if waiting[child]--; waiting[child] == 0 {
				admit(child)
			}
		}
	}
	// Real commits cannot form a cycle, because an id depends on the parents' ids.
	if len(order) < n {
		return nil, errors.New("commits of the journal are their own ancestors")
	}
	return order, nil
}

// queue is a binary min-heap of events by (time, OID), as numbers of nodes. It is written out
// because container/heap would box every number in an interface.
type queue struct {
	log   *Log
	items []int32
}

// less compares the times first, and reads an OID only for equal times.
func (q *queue) less(a, b int32) bool {
	if x, y := q.log.nodes[a].time, q.log.nodes[b].time; x != y {
		return x < y
	}
	return q.log.oid(a) < q.log.oid(b)
}

// push adds x and moves it up to its place.
func (q *queue) push(x int32) {
	q.items = append(q.items, x)
	i := len(q.items) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !q.less(x, q.items[up]) {
			break
		}
		q.items[i] = q.items[up]
		i = up
	}
	q.items[i] = x
}

// pop removes and returns the smallest event. The last item takes its place and moves down. The
// queue must not be empty.
func (q *queue) pop() int32 {
	top := q.items[0]
	last := len(q.items) - 1
	x := q.items[last]
	q.items = q.items[:last]
	if last == 0 {
		return top
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && q.less(q.items[child+1], q.items[child]) {
			child++
		}
		if !q.less(q.items[child], x) {
			break
		}
		q.items[i] = q.items[child]
		i = child
	}
	q.items[i] = x
	return top
}
