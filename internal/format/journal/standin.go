package journal

// A rebuild replaces a damaged or expunged checkpoint by a new one with another id. Events that
// were written before go on naming the old id, which is dead by then. This file finds the
// replacement.

import "git-checkpoint/internal/format/name"

// StandIn returns the checkpoint that replaces a dead one: the last one that was rebuilt from it,
// and if that died too, the last one rebuilt from that. It returns id itself if the checkpoint is
// not dead or has no replacement that is alive.
func (s *State) StandIn(id name.ID) name.ID {
	if s.fold == nil {
		return id
	}
	if x := s.fold.entry(id); x >= 0 {
		if y := s.fold.standIn(x); y != x {
			return s.fold.id(y)
		}
	}
	return id
}

// standIn is StandIn for entries.
func (f *fold) standIn(x int32) int32 {
	at := x
	for f.marks[at] == markDead {
		next, replaced := f.later()[at]
		if !replaced {
			return x
		}
		at = next
	}
	return at
}

// replacements returns for each entry the last one that was rebuilt from it. It only follows links
// to later entries, because a forged journal may have a cycle.
func (f *fold) replacements() map[int32]int32 {
	all := map[int32]int32{}
	for i := range f.steps {
		s := &f.steps[i]
		if !s.event.names() || s.event.RebuiltFrom == "" {
			continue
		}
		if of := f.entry(s.event.RebuiltFrom); of >= 0 && of < s.entry {
			all[of] = s.entry
		}
	}
	return all
}
