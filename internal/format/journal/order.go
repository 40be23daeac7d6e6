package journal

import "container/heap"

// foldOrder computes the order of the fold: Kahn's algorithm over all nodes, where of the events
// that are ready the one with the smallest (time, OID) comes next. It returns numbers of nodes by
// position.
//
// Merges must not influence the order, since clones may join the same events by different merges. A
// merge is therefore placed as soon as its parents are, before any waiting event. A new event is
// never an ancestor of a known one, so the relative order of known events stays the same when more
// arrive.
func foldOrder(l *Log) []int32 {
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
		heap.Push(&ready, i)
	}
	for i := range int32(n) {
		if waiting[i] = int32(len(e.parentsOf(i))); waiting[i] == 0 {
			admit(i)
		}
	}
	for len(merges) > 0 || len(ready.items) > 0 {
		var i int32
		if last := len(merges) - 1; last >= 0 {
			i, merges = merges[last], merges[:last]
		} else {
			i = heap.Pop(&ready).(int32)
		}
		order = append(order, i)
		for _, child := range children.parentsOf(i) {
			if waiting[child]--; waiting[child] == 0 {
				admit(child)
			}
		}
	}
	return order
}

// queue is a heap of events by (time, OID), as numbers of nodes. It implements heap.Interface.
type queue struct {
	log   *Log
	items []int32
}

// Less compares the times first, and reads an OID only for equal times.
func (q *queue) Less(i, j int) bool {
	a, b := q.items[i], q.items[j]
	if x, y := q.log.nodes[a].time, q.log.nodes[b].time; x != y {
		return x < y
	}
	return q.log.oid(a) < q.log.oid(b)
}

func (q *queue) Len() int      { return len(q.items) }
func (q *queue) Swap(i, j int) { q.items[i], q.items[j] = q.items[j], q.items[i] }
func (q *queue) Push(x any)    { q.items = append(q.items, x.(int32)) }

func (q *queue) Pop() any {
	last := len(q.items) - 1
	x := q.items[last]
	q.items = q.items[:last]
	return x
}
