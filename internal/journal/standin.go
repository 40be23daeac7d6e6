package journal

import "git-checkpoint/internal/name"

// StandIn is the checkpoint that is there in the place of a dead one: what was rebuilt
// from it, and from that, if it died too. It is the id itself where the checkpoint is not
// dead, or nothing stands in for it. Events go on naming the old id.
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

// standIn follows a dead entry to the last one that was rebuilt from it and is not dead.
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

// replacements gives for each entry the last one that was rebuilt from it. It goes only to
// what was named later: a forged circle would have no end.
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
