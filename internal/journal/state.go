package journal

import (
	"iter"
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

	Checkpoints []*Entry // in the order in which the fold first met them
	Current     name.ID  // empty: none

	Events     []*Event              // in the order of the fold
	Rollbacks  []*Event              // rollbacks and undos among them
	Unknown    []*Event              // of a kind or format that this version does not know
	Skipped    map[int]*Event        // steps that a skip satisfies, by the last one
	Archived   *Event                // the last archive, if any
	Pins       map[name.ID][]*Event  // pins that hold, whether the checkpoint is known or not
	Tombstones map[name.ID]Tombstone // of what is dead, whether the checkpoint is known or not
	ReadOnly   string                // why nothing may be written on top; empty: it may

	fold fold
}

// Entry is a checkpoint as the journal has it. Live, Discarded and Dead exclude each
// other; a safety checkpoint is never Live or Discarded.
type Entry struct {
	*Event           // the first create, adopt or rebuild that names it
	LastNamed *Event // the last one, if another

	Safety    bool
	Live      bool
	Discarded bool // by a rollback; it can be gone back to
	Dead      bool // pruned
	Pinned    bool
	Tombstone *Tombstone // of a dead one
}

// Entry is the checkpoint id, or nil when no event names it.
func (s *State) Entry(id name.ID) *Entry {
	if x := s.fold.entry(id); x >= 0 {
		return s.Checkpoints[x]
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
	for i := len(s.Checkpoints) - 1; i >= 0; i-- {
		c := s.Checkpoints[i]
		if c.Live && c.Milestone && c.Step == step && (iteration == "" || c.Iteration == iteration) {
			return c
		}
	}
	return nil
}

// Line is the current checkpoint and those before it: each one's previous, less what
// is not live. It ends where a previous is not known here.
func (s *State) Line() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		seen := map[name.ID]bool{} // a forged journal may go in a circle
		for c := s.CurrentEntry(); c != nil && !seen[c.Checkpoint]; c = s.Entry(c.Previous) {
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
	for i := len(s.Checkpoints) - 1; i >= 0; i-- {
		c := s.Checkpoints[i]
		if c.Safety && !c.Dead && c.WorktreeID == worktreeID {
			return c
		}
	}
	return nil
}
