package journal

import (
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"git-checkpoint/internal/format/name"
)

// State is the result of the fold: what the events of a journal say in their order. It never
// changes, even when the journal grows, and several goroutines may read it.
//
// Checkpoints are identified by id, or by place: their index in the order in which the events
// introduce them. Methods by place avoid building an Entry for each checkpoint.
type State struct {
	Session                 name.Session
	Workflow, Topic, Branch string
	Status                  string // of the session: the last one that an event sets, or empty
	CreatedAt, UpdatedAt    time.Time

	Newest  name.ID // the checkpoint that the last event of any worktree made or went to, or empty
	Place   name.ID // where the worktree stands that asks, see FoldAt; empty: nowhere
	Current name.ID // Place, else Newest

	Started   *Event         // the first start event, if any
	Rollbacks []*Event       // rollbacks and undos, in the order of the fold
	Skipped   map[int]*Event // by step: the last event that skips it
	Archived  *Event         // the last archive event, if any
	Resumed   *Event         // the last resume, unless the session was closed, given a status or rolled back since
	// Pins and Tombstones hold the pins in force and the dead checkpoints. They may have ids that
	// no event introduces here, because the create can arrive later than the pin or the prune.
	Pins       map[name.ID][]*Event
	Tombstones map[name.ID]Tombstone
	ReadOnly   string // the reason why no event may be written on top of this journal, or empty

	fold     *fold  // nil in a zero State, which has no journal
	worktree string // the id of the worktree that asks, or empty
	former   []Former
}

// Standing is the state of a checkpoint. At most one of Live, Discarded and Dead is true. A safety
// checkpoint is never Live or Discarded.
type Standing struct {
	Step      int
	Milestone bool
	Safety    bool // a rollback or undo made it of the files that it was about to change
	Live      bool
	Discarded bool // by a rollback or undo; it is still a valid target of a rollback
	Dead      bool // pruned; Discarded is false then
	Pinned    bool
}

// BesideSteps reports whether an agent's tool made the checkpoint, or what was there before the tool worked: lists
// for people show the turns, and leave these out unless somebody pinned them.
func (c *Entry) BesideSteps() bool {
	if c.Milestone || c.Pinned || c.Safety {
		return false
	}
	trigger := c.Event().Trigger
	return trigger == TriggerTool || trigger == TriggerBefore
}

// Entry is a checkpoint as the journal knows it. The events hold further members of it, see Event.
type Entry struct {
	Place      int // see State
	Checkpoint name.ID
	Label      string
	Standing
	LastNamed *Event // the last event that names it, if that is not the first one

	fold *fold
	at   int32                 // position of the event that introduces it
	read atomic.Pointer[Event] // cache of Event
}

// Event returns the create, adopt or rebuild that introduces the checkpoint. It is parsed on the
// first call.
func (c *Entry) Event() *Event {
	if c.read.Load() == nil {
		c.read.CompareAndSwap(nil, c.fold.event(c.at))
	}
	return c.read.Load()
}

// Described returns the corrected message of the checkpoint; empty: its record has the message.
func (c *Entry) Described() string {
	if c.fold == nil {
		return ""
	}
	return c.fold.described[c.Checkpoint]
}

// Len returns the number of checkpoints, dead ones included.
func (s *State) Len() int {
	if s.fold == nil {
		return 0
	}
	return len(s.fold.first)
}

// Standings iterates over all checkpoints by place, from the oldest to the newest.
func (s *State) Standings() iter.Seq2[int, Standing] {
	return func(yield func(int, Standing) bool) {
		for i := range s.Len() {
			if !yield(i, s.Standing(i)) {
				return
			}
		}
	}
}

// Backward iterates like Standings, from the newest checkpoint to the oldest.
func (s *State) Backward() iter.Seq2[int, Standing] {
	return func(yield func(int, Standing) bool) {
		for i := s.Len() - 1; i >= 0; i-- {
			if !yield(i, s.Standing(i)) {
				return
			}
		}
	}
}

// Standing returns the state of the checkpoint at place i.
func (s *State) Standing(i int) Standing {
	n, m := s.fold.node(i), s.fold.marks[i]
	return Standing{
		Step: int(n.step), Milestone: n.milestone, Safety: n.safety,
		Live: m&markLive != 0, Discarded: m&markDiscarded != 0, Dead: m&markDead != 0, Pinned: m&markPinned != 0,
	}
}

// At returns the checkpoint at place i. It returns the same Entry each time and keeps it as long as
// the State is in use; see Read.
func (s *State) At(i int) *Entry {
	f := s.fold
	if f.made[i].Load() == nil {
		f.made[i].CompareAndSwap(nil, s.Read(i))
	}
	return f.made[i].Load()
}

// Read is At for callers that look at all checkpoints and keep none of them: the Entry is not
// retained.
func (s *State) Read(i int) *Entry {
	f := s.fold
	c := &Entry{Place: i, Standing: s.Standing(i), fold: f, at: f.first[i]}
	c.Checkpoint, c.Label = s.fold.id(int32(i)), s.text(i, textLabel)
	if all := f.again[int32(i)]; all != nil {
		c.LastNamed = f.event(all[len(all)-1])
	}
	return c
}

// IterationOf returns the iteration of the checkpoint at place i, or "".
func (s *State) IterationOf(i int) string {
	if !s.fold.node(i).iterated { // looking for the text takes 0.3 µs, and a create asks for those of all milestones of its step
		return ""
	}
	return s.text(i, textIteration)
}

// Highest returns the highest step that an event of the journal names: that of a checkpoint, whatever
// became of it, or a skipped one. It is -1 if there is none.
func (s *State) Highest() int {
	highest := -1
	for _, c := range s.Standings() {
		if c.Milestone || c.Step > 0 { // what was made before the first step hangs on 0
			highest = max(highest, c.Step)
		}
	}
	for step := range s.Skipped {
		highest = max(highest, step)
	}
	for id := range s.Tombstones { // the create of a pruned checkpoint can be missing here
		if step, ok := id.Step(); ok && step > 0 {
			highest = max(highest, step)
		}
	}
	return highest
}

// IterationsOf returns the iterations of all milestones that a step ever had, "" for one without.
func (s *State) IterationsOf(step int) (iterations []string) {
	for i, c := range s.Standings() {
		if c.Milestone && c.Step == step {
			iterations = append(iterations, s.IterationOf(i))
		}
	}
	return iterations
}

// StepName returns the step's name of the checkpoint at place i, or "".
func (s *State) StepName(i int) string { return s.text(i, textStepName) }

// text returns text k (a place in the table of texts) of the event that introduces checkpoint i.
func (s *State) text(i, k int) string { return s.fold.log.text(s.fold.naming(i), k) }

// IsOwn reports whether the worktree that asks made a checkpoint.
func (s *State) IsOwn(e *Entry) bool { return s.fold.node(e.Place).worktree == s.worktree }

// Worked reports whether the worktree wrote an event of one of the given kinds, or of any kind if
// none is given.
func (s *State) Worked(worktreeID string, kinds ...Kind) bool {
	if s.fold == nil {
		return false
	}
	l := &s.fold.log
	for at, n := range l.events() {
		if n.worktree == worktreeID && (len(kinds) == 0 || slices.Contains(kinds, l.kind(at))) {
			return true
		}
	}
	return false
}

// LastBy returns the time of the newest event of a worktree. It is zero if there is none.
func (s *State) LastBy(worktreeID string) (last time.Time) {
	if s.fold == nil || worktreeID == "" {
		return last
	}
	for _, n := range s.fold.log.events() {
		if made := time.UnixMilli(n.time); n.worktree == worktreeID && made.After(last) {
			last = made
		}
	}
	return last
}

// PlaceIn returns the place in another State, which may be nil, of the checkpoint at place i; -1 if
// it is not there.
func (s *State) PlaceIn(other *State, i int) int {
	if other == nil || other.fold == nil {
		return -1
	}
	if i < other.Len() && s.fold.shares(other.fold, i) { // the usual case, without reading an id
		return i
	}
	return max(-1, int(other.fold.entry(s.fold.id(int32(i)))))
}

// shares reports whether the same commit introduces entry x here and in another fold, as far as that
// shows without reading it: one of the two logs was made from the other.
func (f *fold) shares(other *fold, x int) bool {
	a, b := f.node(x), other.node(x)
	return *a == *b && (a.own != nil || &f.log.data[0] == &other.log.data[0])
}

// Checkpoints returns all checkpoints by place.
func (s *State) Checkpoints() []*Entry {
	all := make([]*Entry, s.Len())
	for i := range all {
		all[i] = s.At(i)
	}
	return all
}

// Events returns the events of the journal in the order of the fold.
func (s *State) Events() []*Event {
	if s.fold == nil {
		return nil
	}
	return s.fold.log.Events()
}

// Latest iterates over the events from the last one of the fold's order to the first. Each is parsed
// when its turn comes, so to look at the last few does not cost more in a long session.
func (s *State) Latest() iter.Seq[*Event] { return s.latest(func(*Log, int32) bool { return true }) }

// LatestBy is Latest for the events that a worktree wrote.
func (s *State) LatestBy(worktreeID string) iter.Seq[*Event] {
	return s.latest(func(l *Log, at int32) bool { return l.nodes[at].worktree == worktreeID })
}

// latest iterates over the events that fit.
func (s *State) latest(fits func(*Log, int32) bool) iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		if s.fold == nil {
			return
		}
		l := &s.fold.log
		for i := range l.nodes {
			at := l.position(len(l.nodes) - 1 - i)
			if l.nodes[at].class != classMerge && fits(l, at) && !yield(l.event(at)) {
				return
			}
		}
	}
}

// Last returns the last event in the order of the fold, or nil.
func (s *State) Last() *Event {
	for e := range s.Latest() {
		return e
	}
	return nil
}

// Count returns the number of events in the journal.
func (s *State) Count() int {
	count := 0
	for range s.fold.log.events() {
		count++
	}
	return count
}

// Strangers returns the events that name another session, in the order of the fold. A journal has
// them only if it was forged or damaged.
func (s *State) Strangers() []*Event {
	var strangers []*Event
	for at, n := range s.fold.log.events() {
		if n.session != s.Session {
			strangers = append(strangers, s.fold.log.event(at))
		}
	}
	return strangers
}

// Has reports whether an event introduces checkpoint id.
func (s *State) Has(id name.ID) bool { return s.fold != nil && s.fold.entry(id) >= 0 }

// Entry returns checkpoint id, or nil if no event introduces it.
func (s *State) Entry(id name.ID) *Entry {
	if s.fold == nil {
		return nil
	}
	if x := s.fold.entry(id); x >= 0 {
		return s.At(int(x))
	}
	return nil
}

// CurrentEntry returns the checkpoint on which the worktree goes on, or nil.
func (s *State) CurrentEntry() *Entry { return s.Entry(s.Current) }

// NewestEntry returns the newest checkpoint of the session, or nil.
func (s *State) NewestEntry() *Entry { return s.Entry(s.Newest) }

// Dead reports whether id was pruned. It also works for ids that no event here introduces.
func (s *State) Dead(id name.ID) bool {
	_, ok := s.Tombstones[id]
	return ok
}

// Milestone returns the newest live milestone of a step, or nil. If iteration is not empty, only
// milestones of that iteration count.
func (s *State) Milestone(step int, iteration string) *Entry {
	for i := s.Len() - 1; i >= 0; i-- {
		n := s.fold.node(i)
		if int(n.step) == step && n.milestone && s.fold.marks[i]&markLive != 0 && (iteration == "" || s.At(i).Event().Iteration == iteration) {
			return s.At(i)
		}
	}
	return nil
}

// Superseded returns the places, not before from, of the live milestones whose step has a newer one. One on the line here and one
// beside it, on a line that was joined, too, are two steps with one number; those of other lines do not count, if there are any.
func (s *State) Superseded(from int) map[int]bool {
	type number struct {
		step int
		here bool
	}
	here, several := s.CurrentLine(), s.Place != "" && len(s.Heads()) > 1
	superseded, newer := map[int]bool{}, map[number]bool{}
	for i, c := range s.Backward() {
		if i < from {
			break
		}
		if n := (number{c.Step, here[i]}); c.Live && c.Milestone && (n.here || !several) {
			if newer[n] {
				superseded[i] = true
			}
			newer[n] = true
		}
	}
	return superseded
}

// Continued returns the places, not before from, of the milestones that became checkpoints between
// steps: an agent's turn ended with them and then went on, so that a newer milestone has the step's
// number.
func (s *State) Continued(from int) map[int]bool {
	continued := map[int]bool{}
	for i := range s.Superseded(from) {
		if s.text(i, textTrigger) == TriggerTurn {
			continued[i] = true
		}
	}
	return continued
}

// Labelled returns the newest checkpoint with a label, live or a safety checkpoint, or nil. Labels
// are not unique: two clones may give the same one at the same time.
func (s *State) Labelled(label string) *Entry {
	for i, c := range s.Backward() {
		if (c.Live || c.Safety && !c.Dead) && s.fold.log.text(s.fold.naming(i), textLabel) == label {
			return s.At(i)
		}
	}
	return nil
}

// DiscardedBy returns the last event whose list discards a checkpoint, or nil.
func (s *State) DiscardedBy(id name.ID) *Event {
	for _, e := range slices.Backward(s.Rollbacks) {
		if slices.Contains(e.Discard, id) {
			return e
		}
	}
	return nil
}

// IsRedo reports whether e is a redo, an undo of an undo. It follows the chain of undos back to a
// rollback: an even number of undos is a redo.
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

// Line iterates over the current checkpoint and its predecessors by Previous, newest first, without
// those that are not live. At a place, what another worktree left behind is on the line all the same. It ends
// where a Previous is empty or not known here.
func (s *State) Line() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for c := range s.LineTo(s.CurrentEntry()) {
			if (c.Live || s.Place != "" && !c.Dead) && !yield(c) {
				return
			}
		}
	}
}

// LineTo iterates over an entry and its predecessors by Previous, newest first, whether they are live
// or not. It ends where a Previous is empty or not known here, and for nil it is empty.
func (s *State) LineTo(e *Entry) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		seen := map[name.ID]bool{} // a forged journal may have a cycle
		for ; e != nil && !seen[e.Checkpoint] && yield(e); e = s.Entry(e.Event().Previous) {
			seen[e.Checkpoint] = true
		}
	}
}
