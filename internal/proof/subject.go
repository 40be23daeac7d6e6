package proof

import (
	"slices"
	"strings"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

// Subject is a checkpoint to be judged: what the journal says of it, and its ref.
type Subject struct {
	ID    name.ID
	Entry *journal.Entry // nil: no event names it
	Ref   name.OID       // empty: there is no ref
}

// Commit is the checkpoint's commit: the one that the journal names, else the ref's.
func (s Subject) Commit() name.OID {
	if s.Entry != nil && s.Entry.Event().Commit != "" {
		return s.Entry.Event().Commit
	}
	return s.Ref
}

// Subjects are all checkpoints of the session that are not dead: those that the journal
// names, in its order, then the refs that it does not name, by id.
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

// Subjects are checkpoints to be judged. What the journal says of one is read when its turn
// comes, and not kept.
type Subjects struct {
	of     *Session
	places []int32 // in the journal
	given  []Subject
}

// Given are subjects that are at hand.
func Given(some ...Subject) Subjects { return Subjects{given: some} }

// Len is their number.
func (s Subjects) Len() int { return len(s.places) + len(s.given) }

// Some are those from one number to another.
func (s Subjects) Some(from, to int) []Subject {
	some := make([]Subject, 0, to-from)
	for ; from < min(to, len(s.places)); from++ {
		e := s.of.State.Read(int(s.places[from]))
		some = append(some, Subject{e.Checkpoint, e, s.of.Refs[e.Checkpoint]})
	}
	return append(some, s.given[max(from-len(s.places), 0):max(to-len(s.places), 0)]...)
}

// Subject is one checkpoint of the session; false when there is none.
func (p *Session) Subject(id name.ID) (Subject, bool) {
	s := Subject{ID: id, Ref: p.Refs[id]}
	if p.State != nil {
		s.Entry = p.State.Entry(id)
	}
	return s, s.Entry != nil && !s.Entry.Dead || s.Entry == nil && s.Ref != ""
}
