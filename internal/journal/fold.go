package journal

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"git-checkpoint/internal/name"
)

// fold is a journal made ready: positions are places in the order of the fold,
// entries are indexes of checkpoints in the order of their first naming.
type fold struct {
	log   Log                     // as it was when it was folded
	graph func() *graph           // made when first needed
	ids   *table                  // entries by id
	later func() map[int32]int32  // by entry: the last one that was rebuilt from it; made when first needed
	named []int32                 // by position: the entry that is named there, or none
	first []int32                 // by entry: the position that first names it
	again map[int32][]int32       // by entry: all positions that name it, if several
	marks []mark                  // by entry: what it is
	made  []atomic.Pointer[Entry] // by entry: those that were asked for
	steps []step
	moves map[*Event]int // rollbacks and undos: index of their step
}

// mark is what a checkpoint is, in the end.
type mark uint8

const (
	markLive mark = 1 << iota
	markDiscarded
	markDead
	markPinned
)

// at is the node at a position.
func (f *fold) at(i int32) *node { return &f.log.nodes[f.log.position(int(i))] }

// event is that of a position, nil for a merge.
func (f *fold) event(i int32) *Event { return f.log.event(f.log.position(int(i))) }

// naming is the node in the journal that first names an entry.
func (f *fold) naming(x int) int32 { return f.log.position(int(f.first[x])) }

func (f *fold) node(x int) *node { return &f.log.nodes[f.naming(x)] }

// id is that of an entry.
func (f *fold) id(x int32) name.ID { return f.log.checkpoint(f.naming(int(x))) }

// Fold says what the journal says.
func (l *Log) Fold() *State {
	s := &State{
		Skipped:    map[int]*Event{},
		Pins:       map[name.ID][]*Event{},
		Tombstones: map[name.ID]Tombstone{},
	}
	s.fold = newFold(l)
	s.tell()
	s.name()
	s.fold.compile()
	now := s.fold.replay(nil)
	s.bury()
	s.judge(now)
	return s
}

func newFold(l *Log) *fold {
	f := &fold{log: *l}
	f.log.at = nil // it goes on with the journal
	f.later = sync.OnceValue(f.replacements)
	f.graph = sync.OnceValue(func() *graph {
		e := f.log.edges
		if f.log.order != nil {
			e = e.permuted(f.log.order)
		}
		g := newGraph(e)
		return &g
	})
	return f
}

// FoldOnto is Fold, where before was the fold of this journal without its last event. A
// create on top of all others, the ordinary case, asks nothing of what was known.
func (l *Log) FoldOnto(before *State) *State {
	at := int32(len(l.nodes) - 1)
	n := &l.nodes[at]
	if before == nil || !before.follows(n) || len(before.fold.named) != int(at) || !slices.Equal(l.edges.of(at), []int32{at - 1}) {
		return l.Fold()
	}
	s, old, f := *before, before.fold, newFold(l)
	s.UpdatedAt = later(s.UpdatedAt, n.time)
	made := mark(0)
	if !n.safety {
		made, s.Current = markLive, l.checkpoint(at)
	}
	x := int32(len(old.first))
	f.ids, f.again, f.steps, f.moves = old.ids.with(x), old.again, old.steps, old.moves
	f.named = append(slices.Clip(old.named), x)
	f.first = append(slices.Clip(old.first), at)
	f.marks = append(slices.Clip(old.marks), made)
	f.made = make([]atomic.Pointer[Entry], len(f.first))
	s.fold = f
	return &s
}

// follows reports whether a node does nothing but make a checkpoint known that nothing was
// said of yet.
func (s *State) follows(n *node) bool {
	if n.class != classCreate || n.own == nil || n.own.Event.Session != s.Session || s.ReadOnly != "" || len(s.fold.ids.late) == mostLate {
		return false
	}
	id := n.own.Event.Checkpoint
	return s.fold.entry(id) < 0 && !s.Dead(id) && len(s.Pins[id]) == 0
}

// tell gathers what needs no checkpoint: the session's own facts.
func (s *State) tell() {
	first, newest, l := true, int64(math.MinInt64), &s.fold.log
	for i := range l.nodes {
		at := l.position(i)
		n := &l.nodes[at]
		if n.class == classMerge {
			continue
		}
		newest = max(newest, n.time)
		session := l.session(at)
		if first {
			s.Session, s.CreatedAt, first = session, time.UnixMilli(n.time).UTC(), false
		}
		if s.ReadOnly == "" && session != s.Session {
			s.ReadOnly = fmt.Sprintf("event %s is of session %q, not of %q", l.oid(at).Short(), session, s.Session)
		}
		switch e := n.special(); {
		case e == nil:
		case !e.known():
			s.Unknown = append(s.Unknown, e)
			if s.ReadOnly == "" {
				s.ReadOnly = fmt.Sprintf("event %s (%q, format %d) was written by a later version", e.OID.Short(), e.Kind, e.format())
			}
		default:
			s.note(e)
		}
	}
	s.UpdatedAt = later(s.UpdatedAt, newest)
}

// later is a time, or the given one when that comes after it.
func later(t time.Time, millis int64) time.Time {
	if millis > t.UnixMilli() {
		return time.UnixMilli(millis).UTC()
	}
	return t
}

// note applies one event to the session's facts: the last one that says something
// wins.
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
	f := s.fold
	count := len(f.log.nodes)
	f.ids = newTable(count)
	f.again = map[int32][]int32{}
	f.named = make([]int32, count, count+grows)
	f.first = make([]int32, 0, count+grows)
	for i := range f.named {
		at := int32(i)
		n := f.at(at)
		if f.named[i] = none; !n.names() {
			continue
		}
		next := int32(len(f.first))
		x := f.ids.add(n.hash, next, func(x int32) bool {
			return f.node(int(x)).hash == n.hash && f.id(x) == f.log.checkpoint(f.log.position(i))
		})
		if x == next {
			f.first = append(f.first, at)
		} else {
			if len(f.again[x]) == 0 {
				f.again[x] = []int32{f.first[x]}
			}
			f.again[x] = append(f.again[x], at)
		}
		f.named[i] = x
	}
	f.marks = make([]mark, len(f.first), len(f.first)+grows)
	f.made = make([]atomic.Pointer[Entry], len(f.first))
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
	newest, before := none, none
	for i := range f.marks {
		x := int32(i)
		switch {
		case f.marks[x] == markDead:
		case now.live[x]:
			f.marks[x] |= markLive
			newest = x
			if newest < now.current {
				before = newest
			}
		case !f.node(i).safety:
			f.marks[x] |= markDiscarded
		}
	}
	current := now.current
	if current == none || f.marks[current] == markDead {
		if current = before; current == none {
			current = newest
		}
	}
	if current != none {
		s.Current = f.id(current)
	}
}
