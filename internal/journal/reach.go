package journal

import (
	"fmt"

	"git-checkpoint/internal/name"
)

// reach returns those of nodes that tip reaches and l lacks, sorted by the order of the fold among
// themselves. It returns an error if tip does not descend from the tip of l, and a *MissingError
// for a parent that is neither in l nor in nodes.
func (l *Log) reach(nodes []Node, tip name.OID) ([]Node, error) {
	w := walk{known: l.index(), given: make(map[name.OID]int32, len(nodes)), nodes: nodes}
	for i := range nodes {
		w.given[nodes[i].OID] = int32(i)
	}
	found, err := w.from(tip)
	if err != nil {
		return nil, err
	}
	if len(l.nodes) > 0 && !w.touches(found, l.Tip().OID) {
		return nil, fmt.Errorf("%q does not descend from its tip %q", tip, l.Tip().OID)
	}
	if len(l.nodes)+len(found) > MaxNodes {
		return nil, fmt.Errorf("more than %d commits", MaxNodes)
	}
	return w.sorted(found)
}

// walk goes from a tip to its ancestors among the nodes that were given.
type walk struct {
	known map[name.OID]int32 // numbers in the journal; the walk stops at these
	given map[name.OID]int32 // indexes in nodes
	nodes []Node
}

// from returns the indexes of the given nodes that tip reaches, in breadth-first order.
func (w *walk) from(tip name.OID) ([]int32, error) {
	i, ok := w.given[tip]
	if !ok {
		return nil, &MissingError{OID: tip}
	}
	seen := make([]bool, len(w.nodes))
	seen[i] = true
	found := make([]int32, 1, len(w.nodes))
	found[0] = i
	for next := 0; next < len(found); next++ {
		n := &w.nodes[found[next]]
		for _, p := range n.Parents {
			if _, ok := w.known[p]; ok {
				continue
			}
			j, ok := w.given[p]
			if !ok {
				return nil, &MissingError{OID: p, Child: n.OID}
			}
			if !seen[j] {
				seen[j] = true
				found = append(found, j)
			}
		}
	}
	return found, nil
}

// touches reports whether one of the nodes that were found has oid as a parent. As the walk stops
// at known nodes, oid is reached in this way or not at all.
func (w *walk) touches(found []int32, oid name.OID) bool {
	for _, i := range found {
		for _, p := range w.nodes[i].Parents {
			if p == oid {
				return true
			}
		}
	}
	return false
}

// sorted returns the nodes that were found in the order of the fold. Parents that the journal has
// already do not count as parents here.
func (w *walk) sorted(found []int32) ([]Node, error) {
	// foldOrder needs a Log, so make one of the found nodes only, with numbers of its own.
	subset := Log{nodes: make([]node, len(found))}
	local := make([]int32, len(w.nodes))
	for i, f := range found {
		subset.nodes[i], local[f] = newNode(w.nodes[f]), int32(i)
	}
	for _, f := range found {
		for _, p := range w.nodes[f].Parents {
			if _, ok := w.known[p]; !ok {
				subset.edges.parent(local[w.given[p]])
			}
		}
		subset.edges.end()
	}
	order, err := foldOrder(&subset)
	if err != nil {
		return nil, err
	}
	sorted := make([]Node, len(order))
	for i, o := range order {
		sorted[i] = w.nodes[found[o]]
	}
	return sorted, nil
}
