package proof

import (
	"slices"
	"strings"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
)

// Subject is a checkpoint to be judged.
type Subject struct {
	ID    name.ID
	Entry *journal.Entry // nil: no event names it
	Ref   name.OID       // what its ref, or the archive, names; empty: there is none
}

// Commit returns the commit of the checkpoint: the one in the journal, or else the one that the ref
// names.
func (s Subject) Commit() name.OID {
	if s.Entry != nil && s.Entry.Event().Commit != "" {
		return s.Entry.Event().Commit
	}
	return s.Ref
}

// Subjects returns all checkpoints of the session that are not pruned: first those in the journal,
// in its order, then the refs that the journal does not name, by id.
func (p *Session) Subjects() Subjects {
	all := Subjects{of: p}
	if p.State != nil {
		for i, c := range p.State.Standings() {
			if !c.Dead {
				all.places = append(all.places, int32(i))
			}
		}
	}
	for id, oid := range p.Refs {
		if p.State == nil || !p.State.Has(id) && !p.State.Dead(id) {
			all.given = append(all.given, Subject{ID: id, Ref: oid})
		}
	}
	slices.SortFunc(all.given, func(a, b Subject) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all
}

// Subjects are checkpoints to be judged. The journal's entry of each is read when it is judged, and
// not kept, to save memory.
type Subjects struct {
	of     *Session // nil: there are only given ones
	places []int32  // positions in the journal
	given  []Subject
}

// Given returns subjects that are at hand.
func Given(some ...Subject) Subjects { return Subjects{given: some} }

// Len returns how many there are.
func (s Subjects) Len() int { return len(s.places) + len(s.given) }

// Some returns the subjects from (inclusive) to (exclusive).
func (s Subjects) Some(from, to int) []Subject {
	some := make([]Subject, 0, to-from)
	// First those in the journal, then the given ones.
	for ; from < min(to, len(s.places)); from++ {
		e := s.of.State.Read(int(s.places[from]))
		some = append(some, Subject{e.Checkpoint, e, s.of.Refs[e.Checkpoint]})
	}
	return append(some, s.given[max(from-len(s.places), 0):max(to-len(s.places), 0)]...)
}

// Subject returns one checkpoint of the session. The result is false if there is none, or if it was
// pruned.
func (p *Session) Subject(id name.ID) (Subject, bool) {
	s := Subject{ID: id, Ref: p.Refs[id]}
	if p.State != nil {
		s.Entry = p.State.Entry(id)
	}
	return s, s.Entry != nil && !s.Entry.Dead || s.Entry == nil && s.Ref != ""
}
