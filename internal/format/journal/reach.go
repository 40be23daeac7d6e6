package journal

import (
	"errors"
	"fmt"

	"git-checkpoint/internal/format/name"
)

// reach returns those of nodes that tip reaches and l lacks, parents before children. It returns an
// error if tip does not descend from the tip of l, and for a parent that is neither
// in l nor in nodes. It uses a stack of its own: a journal may have a million commits in a row.
func (l *Log) reach(nodes []Node, tip name.OID) ([]Node, error) {
	known, given := l.index(), make(map[name.OID]int32, len(nodes))
	for i := range nodes {
		given[nodes[i].OID] = int32(i)
	}
	start, ok := given[tip]
	if !ok {
		return nil, fmt.Errorf("the journal's tip %q is missing", tip)
	}
	const open, placed = 1, 2 // a node is open while its ancestors are looked at
	state := make([]byte, len(nodes))
	found, descends := make([]Node, 0, len(nodes)), len(l.nodes) == 0
	for stack := []int32{start}; len(stack) > 0; {
		at := stack[len(stack)-1]
		n, waits := &nodes[at], false
		for _, p := range n.Parents {
			if _, ok := known[p]; ok {
				descends = descends || p == l.Tip().OID
				continue
			}
			i, ok := given[p]
			switch {
			case !ok:
				return nil, fmt.Errorf("the journal has a hole: %q, parent of %q, is missing", p, n.OID)
			case state[i] == open || i == at: // real commits cannot, because an id depends on the parents' ids
				return nil, errors.New("commits of the journal are their own ancestors")
			case state[i] != placed:
				stack, waits = append(stack, i), true
			}
		}
		if waits {
			state[at] = open
			continue
		}
		if stack = stack[:len(stack)-1]; state[at] != placed {
			state[at] = placed
			found = append(found, *n)
		}
	}
	if !descends {
		return nil, fmt.Errorf("%q does not descend from its tip %q", tip, l.Tip().OID)
	}
	if len(l.nodes)+len(found) > MaxNodes {
		return nil, fmt.Errorf("more than %d commits", MaxNodes)
	}
	return found, nil
}
