package journal

import (
	"fmt"
	"slices"
	"sync"

	"git-checkpoint/internal/name"
)

// fold is a journal made ready: positions are places in the order of the fold,
// entries are indexes of checkpoints in the order of their first naming.
type fold struct {
	graph  graph
	events []*Event // by position; nil for a merge
	ids    map[name.ID]int32
	newest name.ID           // an entry that ids lacks, the last one; see FoldOnto
	named  []int32           // by position: the entry that is named there
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
	var beside sync.WaitGroup
	beside.Go(func() {
		f.graph = l.graph()
		s.tell()
	})
	s.name()
	beside.Wait()
	f.compile()
	now := f.replay(nil)
	s.bury()
	s.judge(now)
	return s
}

// FoldOnto is Fold, where before was the fold of this journal without its last event. A
// create on top of all others, the ordinary case, asks nothing of what was known.
func (l *Log) FoldOnto(before *State) *State {
	at := len(l.nodes) - 1
	e := l.nodes[at].Event
	if before == nil || e == nil || !before.follows(e) || len(before.fold.events) != at || !slices.Equal(l.edges.of(int32(at)), []int32{int32(at) - 1}) {
		return l.Fold()
	}
	s := *before
	s.Events = append(slices.Clip(s.Events), e)
	if e.Time.After(s.UpdatedAt) {
		s.UpdatedAt = e.Time
	}
	entry := &Entry{Event: e, Safety: e.Trigger == TriggerSafety}
	if entry.Live = !entry.Safety; entry.Live {
		s.Current = e.Checkpoint
	}
	x := int32(len(s.Checkpoints))
	s.Checkpoints = append(slices.Clip(s.Checkpoints), entry)
	f := &s.fold
	f.graph = l.graph()
	f.newest = e.Checkpoint
	f.events = append(slices.Clip(f.events), e)
	f.named = append(slices.Clip(f.named), x)
	f.first = append(slices.Clip(f.first), int32(at))
	f.safety = append(slices.Clip(f.safety), entry.Safety)
	f.steps = append(slices.Clip(f.steps), step{at: int32(at), event: e, entry: x, other: none})
	return &s
}

// follows reports whether e does nothing but make a checkpoint known that nothing was
// said of yet.
func (s *State) follows(e *Event) bool {
	return e.Kind == KindCreate && e.known() && e.names() && e.Session == s.Session && s.ReadOnly == "" && s.fold.newest == "" &&
		s.Entry(e.Checkpoint) == nil && !s.Dead(e.Checkpoint) && len(s.Pins[e.Checkpoint]) == 0
}

func (l *Log) graph() graph {
	if l.order == nil {
		return newGraph(l.edges)
	}
	return newGraph(l.edges.permuted(l.order))
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
	for _, e := range f.events {
		if e != nil && e.names() {
			count++
		}
	}
	f.ids = make(map[name.ID]int32, count)
	f.first = make([]int32, 0, count)
	f.again = map[int32][]int32{}
	f.named = make([]int32, len(f.events))
	entries := make([]Entry, 0, count)
	for i, e := range f.events {
		if e == nil || !e.names() {
			continue
		}
		x, ok := f.ids[e.Checkpoint]
		if !ok {
			x = int32(len(entries))
			f.ids[e.Checkpoint] = x
			f.first = append(f.first, int32(i))
			f.safety = append(f.safety, e.Trigger == TriggerSafety)
			entries = append(entries, Entry{Event: e, Safety: e.Trigger == TriggerSafety})
		}
		f.named[i] = x
		if !ok {
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
