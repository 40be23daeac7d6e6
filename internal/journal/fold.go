package journal

import (
	"fmt"

	"git-checkpoint/internal/name"
)

// fold is a journal made ready: positions are places in the order of the fold,
// entries are indexes of checkpoints in the order of their first naming.
type fold struct {
	graph  graph
	events []*Event // by position; nil for a merge
	ids    map[name.ID]int32
	first  []int32           // by entry: the position that first names it
	again  map[int32][]int32 // by entry: all positions that name it, if several
	safety []bool            // by entry
	steps  []step
	moves  map[*Event]int // rollbacks and undos: index of their step
}

// Fold says what the journal says.
func (l *Log) Fold() *State {
	s := &State{
		Skipped:    map[int]*Event{},
		Pins:       map[name.ID][]*Event{},
		Tombstones: map[name.ID]Tombstone{},
	}
	f := &s.fold
	f.events = make([]*Event, len(l.nodes))
	for i := range l.nodes {
		f.events[i] = l.nodes[l.position(i)].Event
	}
	if l.order == nil {
		f.graph = newGraph(l.edges)
	} else {
		f.graph = newGraph(l.edges.permuted(l.order))
	}
	s.tell()
	s.name()
	f.compile()
	now := f.replay(nil)
	s.bury()
	s.judge(now)
	return s
}

// tell gathers what needs no checkpoint: the session's own facts.
func (s *State) tell() {
	s.Events = make([]*Event, 0, len(s.fold.events))
	for _, e := range s.fold.events {
		if e == nil {
			continue
		}
		s.Events = append(s.Events, e)
		if e.Time.After(s.UpdatedAt) {
			s.UpdatedAt = e.Time
		}
		if s.Session == "" {
			s.Session = e.Session
		}
		if s.ReadOnly == "" && e.Session != s.Session {
			s.ReadOnly = fmt.Sprintf("event %s is of session %q, not of %q", e.OID.Short(), e.Session, s.Session)
		}
		if !e.known() {
			s.Unknown = append(s.Unknown, e)
			if s.ReadOnly == "" {
				s.ReadOnly = fmt.Sprintf("event %s (%q, format %d) was written by a later version", e.OID.Short(), e.Kind, e.format())
			}
			continue
		}
		s.note(e)
	}
	if s.CreatedAt.IsZero() && len(s.Events) > 0 {
		s.CreatedAt = s.Events[0].Time
	}
}

// note applies one event to the session's facts: the last one that says something
// wins.
func (s *State) note(e *Event) {
	switch e.Kind {
	case KindStart:
		if s.CreatedAt.IsZero() {
			s.CreatedAt = e.Time
		}
		last(&s.Workflow, e.Workflow)
		last(&s.Topic, e.Topic)
		last(&s.Branch, e.Branch)
		last(&s.Status, e.Status)
	case KindStatus, KindClose, KindResume:
		last(&s.Status, e.Status)
	case KindSkip:
		s.Skipped[e.Step] = e
	case KindArchive:
		s.Archived = e
	case KindRollback, KindUndo:
		s.Rollbacks = append(s.Rollbacks, e)
	}
}

func last(member *string, value string) {
	if value != "" {
		*member = value
	}
}

// name makes an entry for each checkpoint that an event names.
func (s *State) name() {
	f := &s.fold
	count := 0
	for _, e := range s.Events {
		if e.names() {
			count++
		}
	}
	f.ids = make(map[name.ID]int32, count)
	f.first = make([]int32, 0, count)
	f.again = map[int32][]int32{}
	entries := make([]Entry, 0, count)
	for i, e := range f.events {
		if e == nil || !e.names() {
			continue
		}
		x, ok := f.ids[e.Checkpoint]
		if !ok {
			f.ids[e.Checkpoint] = int32(len(entries))
			f.first = append(f.first, int32(i))
			f.safety = append(f.safety, e.Trigger == TriggerSafety)
			entries = append(entries, Entry{Event: e, Safety: e.Trigger == TriggerSafety})
			continue
		}
		if len(f.again[x]) == 0 {
			f.again[x] = []int32{f.first[x]}
		}
		f.again[x] = append(f.again[x], int32(i))
		entries[x].LastNamed = e
	}
	s.Checkpoints = make([]*Entry, len(entries))
	for x := range entries {
		s.Checkpoints[x] = &entries[x]
	}
}

// namings are the positions that name an entry, in order.
func (f *fold) namings(x int32) []int32 {
	if all := f.again[x]; all != nil {
		return all
	}
	return f.first[x : x+1]
}

// judge says of each checkpoint what it is, and which is current. A current one that
// is dead falls back to the newest that could be current before it, else to the
// newest of all.
func (s *State) judge(now liveness) {
	newest, before := none, none
	for x, c := range s.Checkpoints {
		if s.Dead(c.Checkpoint) {
			t := s.Tombstones[c.Checkpoint]
			c.Dead, c.Tombstone = true, &t
		}
		c.Pinned = !c.Dead && len(s.Pins[c.Checkpoint]) > 0
		c.Live = now.live[x] && !c.Dead
		c.Discarded = !now.live[x] && !c.Dead && !c.Safety
		if c.Live {
			newest = int32(x)
			if newest < now.current {
				before = newest
			}
		}
	}
	current := now.current
	if current == none || s.Checkpoints[current].Dead {
		if current = before; current == none {
			current = newest
		}
	}
	if current != none {
		s.Current = s.Checkpoints[current].Checkpoint
	}
}
