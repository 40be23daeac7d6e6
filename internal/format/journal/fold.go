package journal

// The fold turns the events of a journal into a State. Its input is a set of events, so that all
// clones get the same State, whatever merges they have. Log.Fold takes these steps:
//
//   - collectFacts collects facts about the session, and name numbers the checkpoints in the order
//     in which events introduce them (entries).
//   - compile reduces the events that change what is live or current to steps, with entries for
//     ids, and settles which ids of a rollback's lists its writer knew (replay.go).
//   - replay applies the steps in order: what is live, what is current.
//   - applyTombstones finds what is dead or pinned (tombstones.go), and markCheckpoints combines
//     everything into one mark per checkpoint.

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"git-checkpoint/internal/format/name"
)

// fold holds what a State was computed from, for the questions that are asked later. Two kinds of
// indexes occur: a position is a place in the order of the fold, an entry is the index of a
// checkpoint in the order in which events introduce them. A fold is read by several goroutines.
type fold struct {
	log   Log           // a copy; the original may grow without changing it
	graph func() *graph // by position; made when first needed
	ids   table         // entries by id
	// later returns for each entry the last one that was rebuilt from it; made when first needed.
	later     func() map[int32]int32
	heads     func() []int32          // see findHeads; made when first needed
	standing  int32                   // the entry of the last move of the worktree that asks, none if there is none
	named     []int32                 // by position: the entry that the event introduces or names again, or none
	first     []int32                 // by entry: the first position that names it
	again     map[int32][]int32       // by entry: all positions that name it, for those with several
	marks     []mark                  // by entry: the result of the fold
	made      []atomic.Pointer[Entry] // by entry: what State.At returned before
	steps     []step                  // the effects of events other than creates, see step
	moves     map[*Event]int          // has the index in steps of each rollback and undo
	described map[name.ID]string      // the newest messages of checkpoints whose message was corrected
}

// mark is the final state of a checkpoint, a set of bits.
type mark uint8

const (
	markLive mark = 1 << iota
	markDiscarded
	markDead // excludes all the others
	markPinned
)

// at returns the node at a position.
func (f *fold) at(i int32) *node { return &f.log.nodes[f.log.position(int(i))] }

// event returns the event at a position, nil for a merge.
func (f *fold) event(i int32) *Event { return f.log.event(f.log.position(int(i))) }

// naming returns the number of the node that introduces entry x.
func (f *fold) naming(x int) int32 { return f.log.position(int(f.first[x])) }

// node returns the node that introduces entry x.
func (f *fold) node(x int) *node { return &f.log.nodes[f.naming(x)] }

// id returns the id of entry x.
func (f *fold) id(x int32) name.ID { return f.log.checkpoint(f.naming(int(x))) }

// Fold computes the state of the session. The State does not change when l grows afterwards.
func (l *Log) Fold() *State {
	s := &State{
		Skipped:    map[int]*Event{},
		Pins:       map[name.ID][]*Event{},
		Tombstones: map[name.ID]Tombstone{},
	}
	s.fold = newFold(l)
	s.collectFacts()
	s.name()
	s.fold.compile()
	now := s.fold.replay()
	s.applyTombstones()
	s.markCheckpoints(now)
	return s
}

// newFold makes the parts of a fold that do not depend on events.
func newFold(l *Log) *fold {
	f := &fold{log: *l}
	f.log.at = nil // the map is shared with l, which goes on adding to it
	f.later, f.heads, f.standing = sync.OnceValue(f.replacements), sync.OnceValue(f.findHeads), none
	f.graph = sync.OnceValue(func() *graph {
		e := f.log.edges
		if f.log.order != nil {
			e = e.permuted(f.log.order)
		}
		return new(newGraph(e))
	})
	return f
}

// collectFacts collects the facts about the session itself: those that do not depend on any checkpoint.
func (s *State) collectFacts() {
	first, newest, l := true, time.Time{}.UnixMilli(), &s.fold.log
	for at, n := range l.events() {
		newest = max(newest, n.time)
		if first {
			s.Session, s.CreatedAt, first = n.session, time.UnixMilli(n.time).UTC(), false
		}
		if s.ReadOnly == "" && n.session != s.Session {
			s.ReadOnly = fmt.Sprintf("event %s is of session %q, not of %q", l.oid(at).Short(), n.session, s.Session)
		}
		switch e := n.special(); {
		case e == nil:
		case !e.known():
			if s.ReadOnly == "" {
				s.ReadOnly = fmt.Sprintf("event %s (%q, format %d) was written by a later version", e.OID.Short(), e.Kind, e.format())
			}
		default:
			s.note(e)
		}
	}
	s.UpdatedAt = time.UnixMilli(newest).UTC()
}

// note applies one event to the session's facts. The last event that has a value wins.
func (s *State) note(e *Event) {
	switch e.Kind {
	case KindStart:
		if s.Started == nil {
			s.Started, s.CreatedAt = e, e.Time
		}
		last(&s.Workflow, e.Workflow)
		last(&s.Topic, e.Topic)
		last(&s.Branch, e.Branch)
		last(&s.Status, e.Status)
		if id, message := e.Described(); message != "" {
			if s.fold.described == nil {
				s.fold.described = map[name.ID]string{}
			}
			s.fold.described[id] = message
		}
	case KindStatus, KindClose:
		last(&s.Status, e.Status)
		s.Resumed = nil
	case KindResume:
		last(&s.Status, e.Status)
		s.Resumed = e
	case KindSkip:
		s.Skipped[e.Step] = e
	case KindArchive:
		s.Archived = e
	case KindRollback, KindUndo:
		s.Rollbacks = append(s.Rollbacks, e)
		s.Resumed = nil
	}
}

// last sets member unless value is empty.
func last(member *string, value string) {
	if value != "" {
		*member = value
	}
}

// name adds an entry for each checkpoint that an event introduces.
func (s *State) name() {
	f := s.fold
	count := len(f.log.nodes)
	f.ids = make(table, count)
	f.again = map[int32][]int32{}
	f.named = make([]int32, count)
	f.first = make([]int32, 0, count)
	for i := range f.named {
		at := int32(i)
		n := f.at(at)
		if f.named[i] = none; !n.names() {
			continue
		}
		x, free := f.ids.find(n.hash, func(x int32) bool {
			return f.node(int(x)).hash == n.hash && f.id(x) == f.log.checkpoint(f.log.position(i))
		})
		if x == none {
			x = int32(len(f.first))
			f.ids[free], f.first = x, append(f.first, at)
		} else {
			if len(f.again[x]) == 0 {
				f.again[x] = []int32{f.first[x]}
			}
			f.again[x] = append(f.again[x], at)
		}
		f.named[i] = x
	}
	f.marks = make([]mark, len(f.first))
	f.made = make([]atomic.Pointer[Entry], len(f.first))
}

// namings returns the positions that name entry x, in ascending order.
func (f *fold) namings(x int32) []int32 {
	if all := f.again[x]; all != nil {
		return all
	}
	return f.first[x : x+1]
}

// markCheckpoints sets the mark of each checkpoint and the newest one. now is the state after all
// events, which does not consider deaths.
func (s *State) markCheckpoints(now liveness) {
	f := s.fold
	for id := range s.Tombstones {
		if x := f.entry(id); x >= 0 {
			f.marks[x] = markDead
		}
	}
	for id := range s.Pins {
		if x := f.entry(id); x >= 0 && f.marks[x] != markDead {
			f.marks[x] = markPinned
		}
	}
	for i := range f.marks {
		x := int32(i)
		switch {
		case f.marks[x] == markDead:
		case now.live[x]:
			f.marks[x] |= markLive
		// Every checkpoint is live at first, except for safety checkpoints, which never are. Only a
		// rollback or undo can have changed that.
		case !f.node(i).safety:
			f.marks[x] |= markDiscarded
		}
	}
	if current := now.present(func(x int32) bool { return f.marks[x] == markDead }); current != none {
		s.Newest = f.id(current)
	}
	s.Current = s.Newest
}
