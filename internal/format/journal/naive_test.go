package journal

import (
	"slices"
	"sort"

	"git-checkpoint/internal/format/name"
)

// naive implements the rules of the fold literally, with real sets of ancestors. It shares no code
// with the fold.
type naive struct {
	nodes map[name.OID]Node
	above map[name.OID]map[name.OID]bool // ancestors of a commit that are events
	order []*Event
}

func newNaive(nodes []Node, tip name.OID) *naive {
	v := &naive{nodes: map[name.OID]Node{}, above: map[name.OID]map[name.OID]bool{}}
	for _, n := range nodes {
		v.nodes[n.OID] = n
	}
	todo := v.ancestors(tip)
	all := map[name.OID]bool{}
	for oid := range todo {
		all[oid] = true
	}
	if v.nodes[tip].Event != nil {
		all[tip] = true
	}
	v.order = v.sort(all)
	return v
}

func (v *naive) ancestors(oid name.OID) map[name.OID]bool {
	if set, ok := v.above[oid]; ok {
		return set
	}
	set := map[name.OID]bool{}
	for _, p := range v.nodes[oid].Parents {
		if v.nodes[p].Event != nil {
			set[p] = true
		}
		for a := range v.ancestors(p) {
			set[a] = true
		}
	}
	v.above[oid] = set
	return set
}

// sort repeatedly takes the smallest event whose ancestors have all been taken.
func (v *naive) sort(set map[name.OID]bool) []*Event {
	var order []*Event
	taken := map[name.OID]bool{}
	for len(order) < len(set) {
		var best *Event
		for oid := range set {
			e := v.nodes[oid].Event
			ready := !taken[oid]
			for a := range v.ancestors(oid) {
				ready = ready && taken[a]
			}
			if ready && (best == nil || e.Time.Before(best.Time) || e.Time.Equal(best.Time) && e.OID < best.OID) {
				best = e
			}
		}
		order = append(order, best)
		taken[best.OID] = true
	}
	return order
}

// knows returns K(e), the checkpoints that ancestors of e introduce.
func (v *naive) knows(e *Event) map[name.ID]bool {
	k := map[name.ID]bool{}
	for a := range v.ancestors(e.OID) {
		if x := v.nodes[a].Event; naming(x) {
			k[x.Checkpoint] = true
		}
	}
	return k
}

func naming(e *Event) bool {
	return e.Kind == KindCreate || e.Kind == KindAdopt || e.Kind == KindRebuild && e.RebuiltFrom != ""
}

// naiveState is what is known, live and current.
type naiveState struct {
	known   []name.ID
	live    map[name.ID]bool
	current name.ID
}

func (v *naive) isSafety(x name.ID) bool {
	for _, e := range v.order {
		if naming(e) && e.Checkpoint == x {
			return e.Trigger == TriggerSafety
		}
	}
	return false
}

func (v *naive) fold(order []*Event) naiveState {
	s := naiveState{live: map[name.ID]bool{}}
	for _, e := range order {
		switch {
		case naming(e):
			x := e.Checkpoint
			first := !slices.Contains(s.known, x)
			if first {
				s.known = append(s.known, x)
				s.live[x] = !v.isSafety(x)
			}
			if !s.live[x] || v.isSafety(x) {
				continue
			}
			if e.Kind == KindCreate || e.Kind == KindAdopt && first && e.Previous == s.current ||
				e.Kind == KindRebuild && e.RebuiltFrom == s.current {
				s.current = x
			}
		case e.Kind == KindRollback || e.Kind == KindUndo:
			k := v.knows(e)
			for _, x := range e.Discard {
				if k[x] && !v.isSafety(x) {
					s.live[x] = false
				}
			}
			for _, x := range e.Restore {
				if k[x] && !v.isSafety(x) {
					s.live[x] = true
				}
			}
			if e.To == "" {
				s.current = ""
			} else if slices.Contains(s.known, e.To) && !v.isSafety(e.To) {
				s.live[e.To] = true
				s.current = e.To
			}
		}
	}
	return s
}

func (v *naive) pins(x name.ID, k Kind) []*Event {
	var found []*Event
	for _, e := range v.order {
		if e.Kind == k && e.Checkpoint == x {
			found = append(found, e)
		}
	}
	return found
}

func (v *naive) dead(x name.ID) bool {
	for _, e := range v.order {
		for _, t := range e.Tombstones {
			if e.Kind != KindPrune || t.ID != x {
				continue
			}
			all := true
			for _, p := range v.pins(x, KindPin) {
				all = all && v.ancestors(e.OID)[p.OID]
			}
			if all {
				return true
			}
		}
	}
	return false
}

func (v *naive) pinned(x name.ID) bool {
	for _, p := range v.pins(x, KindPin) {
		held := true
		for _, u := range v.pins(x, KindUnpin) {
			held = held && !v.ancestors(u.OID)[p.OID]
		}
		if held {
			return !v.dead(x)
		}
	}
	return false
}

// current is the one that is shown.
func (v *naive) current(s naiveState) name.ID {
	if s.current != "" && !v.dead(s.current) {
		return s.current
	}
	var usable []name.ID
	at := slices.Index(s.known, s.current)
	before := name.ID("")
	for i, x := range s.known {
		if s.live[x] && !v.dead(x) {
			usable = append(usable, x)
			if i < at {
				before = x
			}
		}
	}
	switch {
	case before != "":
		return before
	case len(usable) > 0:
		return usable[len(usable)-1]
	}
	return ""
}

// place is what the worktree's last moving event made or went to.
func (v *naive) place(worktree string) name.ID {
	for _, e := range slices.Backward(v.order) {
		switch {
		case e.WorktreeID != worktree:
		case e.Kind == KindCreate && e.Trigger != TriggerSafety:
			return e.Checkpoint
		case e.Kind == KindRollback, e.Kind == KindUndo:
			return e.To
		}
	}
	return ""
}

// line is a checkpoint and all before it, in a journal whose events all have a worktree.
func (v *naive) line(x name.ID) map[name.ID]bool {
	on := map[name.ID]bool{}
	for x != "" && !on[x] {
		on[x] = true
		at := slices.IndexFunc(v.order, func(e *Event) bool { return naming(e) && e.Checkpoint == x })
		x = v.order[at].Previous
	}
	return on
}

// built is what heads are built on that are not in own.
func (v *naive) built(own map[name.ID]bool) map[name.ID]bool {
	now, on := v.fold(v.order), map[name.ID]bool{}
	usable := func(x name.ID) bool { return now.live[x] && !v.dead(x) }
	for _, x := range now.known {
		head := usable(x) && !own[x]
		for _, y := range now.known {
			head = head && (x == y || !usable(y) || !v.line(y)[x])
		}
		if head {
			for y := range v.line(x) {
				on[y] = true
			}
		}
	}
	return on
}

// rollback is the plan of a rollback to x, in a journal without rebuilds.
func (v *naive) rollback(worktree string, x name.ID) (discard, restore []name.ID) {
	now, here, back := v.fold(v.order), v.line(v.place(worktree)), v.line(x)
	built := v.built(here)
	for _, y := range now.known {
		switch {
		case v.isSafety(y):
		case now.live[y] && here[y] && !back[y] && !built[y] && (here[x] || !now.live[x]):
			discard = append(discard, y)
		case !now.live[y] && back[y]:
			restore = append(restore, y)
		}
	}
	return discard, restore
}

// undo is the plan of an undo of e in a worktree, without what changes nothing.
func (v *naive) undo(worktree string, e *Event) (discard, restore []name.ID) {
	now, k := v.fold(v.order), v.knows(e)
	out, back := map[name.ID]bool{}, map[name.ID]bool{}
	for _, x := range e.Restore {
		out[x] = out[x] || k[x]
	}
	for _, x := range e.Discard {
		back[x] = back[x] || k[x]
	}
	for _, d := range v.order {
		if d.Kind == KindCreate && d.WorktreeID == e.WorktreeID && v.ancestors(d.OID)[e.OID] {
			out[d.Checkpoint] = true
		}
	}
	back[e.From], out[e.From] = true, false
	own := v.line(v.place(worktree))
	for _, more := range []map[name.ID]bool{out, v.line(e.From)} {
		for x, is := range more {
			own[x] = own[x] || is
		}
	}
	built := v.built(own)
	for _, x := range now.known {
		switch {
		case v.isSafety(x):
		case now.live[x] && out[x] && !built[x]:
			discard = append(discard, x)
		case !now.live[x] && back[x]:
			restore = append(restore, x)
		}
	}
	return discard, restore
}

func sortedIDs(ids []name.ID) []name.ID {
	ids = slices.Clone(ids)
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	return ids
}
