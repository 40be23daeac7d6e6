package journal

import (
	"fmt"

	"git-checkpoint/internal/name"
)

// reach gives the nodes that tip reaches and l lacks, in the order of the fold among
// themselves.
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

// walk goes from a tip to its ancestors among the nodes that are given.
type walk struct {
	known map[name.OID]int32 // where to stop
	given map[name.OID]int32
	nodes []Node
}

// from lists the given nodes that tip reaches, by index.
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

// touches reports whether a node that was found has oid as a parent.
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

// sorted puts what was found in the order of the fold, counting only the parents
// that were found too.
func (w *walk) sorted(found []int32) ([]Node, error) {
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
