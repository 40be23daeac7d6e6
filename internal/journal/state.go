package journal

import (
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"git-checkpoint/internal/name"
)

// State is what a journal says: the fold of its events in their order. It does not
// change when the journal grows.
type State struct {
	Session                 name.Session
	Workflow, Topic, Branch string
	Status                  string // of the session; the last one that was said
	CreatedAt, UpdatedAt    time.Time

	Current name.ID // checkpoint; empty: none

	Started    *Event                // the first start, if any
	Rollbacks  []*Event              // rollbacks and undos, in the order of the fold
	Unknown    []*Event              // of a kind or format that this version does not know
	Skipped    map[int]*Event        // steps that a skip satisfies, by the last one
	Archived   *Event                // the last archive, if any
	Pins       map[name.ID][]*Event  // pins that hold, whether the checkpoint is known or not
	Tombstones map[name.ID]Tombstone // of what is dead, whether the checkpoint is known or not
	ReadOnly   string                // why nothing may be written on top; empty: it may

	fold *fold // nil: of no journal
}

// Standing is what a checkpoint is. Live, Discarded and Dead exclude each other; a safety
// checkpoint is never Live or Discarded.
type Standing struct {
	Step      int
	Milestone bool
	Safety    bool // made by a rollback or an undo, before these change anything
	Live      bool
	Discarded bool // by a rollback; it can be gone back to
	Dead      bool // pruned
	Pinned    bool
}

// Entry is a checkpoint as the journal has it.
type Entry struct {
	Place      int // what At gives it for
	Checkpoint name.ID
	Label      string
	Standing
	LastNamed *Event     // the last event that names it, if another than the first
	Tombstone *Tombstone // of a dead one

	fold *fold
	at   int32 // position of the first event
	read atomic.Pointer[Event]
}

// Event is the first create, adopt or rebuild that names the checkpoint.
func (c *Entry) Event() *Event {
	if c.read.Load() == nil {
		c.read.CompareAndSwap(nil, c.fold.event(c.at))
	}
	return c.read.Load()
}

// Len is the number of checkpoints.
func (s *State) Len() int {
	if s.fold == nil {
		return 0
	}
	return len(s.fold.first)
}

// Standings tells of all checkpoints what they are, in the order in which the fold first
// met them, which At counts by.
func (s *State) Standings() iter.Seq2[int, Standing] {
	return func(yield func(int, Standing) bool) {
		for i := range s.Len() {
			if !yield(i, s.Standing(i)) {
				return
			}
		}
	}
}

// Backward is Standings from the newest checkpoint to the oldest.
func (s *State) Backward() iter.Seq2[int, Standing] {
	return func(yield func(int, Standing) bool) {
		for i := s.Len() - 1; i >= 0; i-- {
			if !yield(i, s.Standing(i)) {
				return
			}
		}
	}
}

// Standing is what a checkpoint is, by its place.
func (s *State) Standing(i int) Standing {
	n, m := s.fold.node(i), s.fold.marks[i]
	return Standing{
		Step: int(n.step), Milestone: n.milestone, Safety: n.safety,
		Live: m&markLive != 0, Discarded: m&markDiscarded != 0, Dead: m&markDead != 0, Pinned: m&markPinned != 0,
	}
}

// At is a checkpoint by its place.
func (s *State) At(i int) *Entry {
	f := s.fold
	if f.made[i].Load() == nil {
		f.made[i].CompareAndSwap(nil, s.Read(i))
	}
	return f.made[i].Load()
}

// Read is At for who looks at all of them and keeps none.
func (s *State) Read(i int) *Entry {
	f := s.fold
	c := &Entry{Place: i, Standing: s.Standing(i), fold: f, at: f.first[i]}
	c.Checkpoint, c.Label = s.IDOf(i), s.text(i, textLabel)
	if all := f.again[int32(i)]; all != nil {
		c.LastNamed = f.event(all[len(all)-1])
	}
	if c.Dead {
		t := s.Tombstones[c.Checkpoint]
		c.Tombstone = &t
	}
	return c
}

// IDOf is the id of a checkpoint, by its place.
func (s *State) IDOf(i int) name.ID { return s.fold.id(int32(i)) }

// CommitOf is the commit of a checkpoint, by its place.
func (s *State) CommitOf(i int) name.OID { return name.OID(s.text(i, textCommit)) }

// IterationOf is the iteration of a checkpoint's step, by the checkpoint's place.
func (s *State) IterationOf(i int) string { return s.text(i, textIteration) }

// StepName is what the step of a checkpoint is called, by the checkpoint's place.
func (s *State) StepName(i int) string { return s.text(i, textStepName) }

func (s *State) text(i, k int) string { return s.fold.log.text(s.fold.naming(i), k) }

// TimeOf is when a checkpoint was made, by its place.
func (s *State) TimeOf(i int) time.Time { return time.UnixMilli(s.fold.node(i).time).UTC() }

// Worked reports whether an event of some kinds, or of any without one, was made in a
// worktree.
func (s *State) Worked(worktreeID string, kinds ...Kind) bool {
	if s.fold == nil {
		return false
	}
	l := &s.fold.log
	for i := range l.nodes {
		at := int32(i)
		if n := &l.nodes[i]; n.class == classMerge || len(kinds) > 0 && !slices.Contains(kinds, l.kind(at)) {
			continue
		}
		if l.is(at, textWorktreeID, worktreeID) {
			return true
		}
	}
	return false
}

// Since is how many of the checkpoints a state that was folded before has at the same
// places for sure.
func (s *State) Since(before *State) int {
	if before.Len() == 0 || s.Len() < before.Len() {
		return 0
	}
	a, b := &s.fold.log, &before.fold.log
	tip := int32(len(b.nodes) - 1)
	if a.order != nil || b.order != nil || len(a.nodes) < len(b.nodes) || a.oid(tip) != b.oid(tip) {
		return 0
	}
	return before.Len()
}

// Checkpoints are all of them, in the order in which the fold first met them.
func (s *State) Checkpoints() []*Entry {
	all := make([]*Entry, s.Len())
	for i := range all {
		all[i] = s.At(i)
	}
	return all
}

// Events are those of the journal in the order of the fold.
func (s *State) Events() []*Event {
	if s.fold == nil {
		return nil
	}
	events := make([]*Event, 0, len(s.fold.named))
	for i := range s.fold.named {
		if e := s.fold.event(int32(i)); e != nil {
			events = append(events, e)
		}
	}
	return events
}

// Count is how many events the journal has.
func (s *State) Count() int {
	count := 0
	for i := range s.fold.log.nodes {
		if s.fold.log.nodes[i].class != classMerge {
			count++
		}
	}
	return count
}

// Strangers are the events of another session, in the order of the fold.
func (s *State) Strangers() []*Event {
	var strangers []*Event
	for i := range s.fold.named {
		at := s.fold.log.position(i)
		if s.fold.log.nodes[at].class != classMerge && s.fold.log.session(at) != s.Session {
			strangers = append(strangers, s.fold.log.event(at))
		}
	}
	return strangers
}

// Has reports whether an event names a checkpoint.
func (s *State) Has(id name.ID) bool { return s.fold != nil && s.fold.entry(id) >= 0 }

// Entry is the checkpoint id, or nil when no event names it.
func (s *State) Entry(id name.ID) *Entry {
	if s.fold == nil {
		return nil
	}
	if x := s.fold.entry(id); x >= 0 {
		return s.At(int(x))
	}
	return nil
}

// CurrentEntry is the current checkpoint, or nil.
func (s *State) CurrentEntry() *Entry { return s.Entry(s.Current) }

// Dead reports whether id was pruned for good, also one that no event here names.
func (s *State) Dead(id name.ID) bool {
	_, ok := s.Tombstones[id]
	return ok
}

// Milestone is the newest live milestone of a step, or of one iteration of it when
// iteration is not empty; nil when there is none.
func (s *State) Milestone(step int, iteration string) *Entry {
	for i := s.Len() - 1; i >= 0; i-- {
		n := s.fold.node(i)
		if int(n.step) == step && n.milestone && s.fold.marks[i]&markLive != 0 && (iteration == "" || s.At(i).Event().Iteration == iteration) {
			return s.At(i)
		}
	}
	return nil
}

// Labelled is the newest checkpoint of a label that is live, or kept for an undo; nil when
// there is none. Twins made at the same time elsewhere share a label.
func (s *State) Labelled(label string) *Entry {
	for i, c := range s.Backward() {
		if (c.Live || c.Safety && !c.Dead) && s.fold.log.is(s.fold.naming(i), textLabel, label) {
			return s.At(i)
		}
	}
	return nil
}

// DiscardedBy is the last event that discarded a checkpoint; nil when none did.
func (s *State) DiscardedBy(id name.ID) *Event {
	for _, e := range slices.Backward(s.Rollbacks) {
		if slices.Contains(e.Discard, id) {
			return e
		}
	}
	return nil
}

// IsRedo reports whether an undo took back an undo, so that what it did was done before.
func (s *State) IsRedo(e *Event) bool {
	undos := 0
	for e != nil && e.Kind == KindUndo {
		undos++
		at := slices.IndexFunc(s.Rollbacks, func(r *Event) bool { return r.OID == e.Undoes })
		if at < 0 || s.Rollbacks[at] == e {
			break
		}
		e = s.Rollbacks[at]
	}
	return undos > 0 && undos%2 == 0
}

// Line is the current checkpoint and those before it: each one's previous, less what
// is not live. It ends where a previous is not known here.
func (s *State) Line() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		seen := map[name.ID]bool{} // a forged journal may go in a circle
		for c := s.CurrentEntry(); c != nil && !seen[c.Checkpoint]; c = s.Entry(c.Event().Previous) {
			seen[c.Checkpoint] = true
			if c.Live && !yield(c) {
				return
			}
		}
	}
}

// LastStep is the step that a checkpoint which is no milestone hangs on: that of the
// newest live checkpoint in the line, 0 before any.
func (s *State) LastStep() int {
	// The current checkpoint is live or there is none, so it is the newest of its line.
	if c := s.CurrentEntry(); c != nil {
		return c.Step
	}
	return 0
}

// NewestSafety is the safety checkpoint that an undo in this worktree may need, the
// newest one that is not dead; nil when there is none. Worktrees go by their random
// id: by name, one clone would prune what the undo of another needs.
func (s *State) NewestSafety(worktreeID string) *Entry {
	for i, c := range s.Backward() {
		if c.Safety && !c.Dead && s.At(i).Event().WorktreeID == worktreeID {
			return s.At(i)
		}
	}
	return nil
}
