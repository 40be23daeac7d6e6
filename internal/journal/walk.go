package journal

import (
	"fmt"
	"slices"
	"time"

	"git-checkpoint/internal/name"
)

// Level is a rollback of a worktree, together with every undo and redo of it. A walk goes
// over it in one step.
type Level struct {
	Rollback *Event
	Head     *Event // its last event, which the next undo or redo of the level takes back
	State    *State // of the session that holds the head
}

// Walk is what a worktree can undo and redo, over all its sessions. The last level of a
// list is the next one to go.
type Walk struct {
	Undo, Redo []Level
	newest     time.Time // of the moves
}

// NewWalk reads the two lists of a worktree from the moves that it made in sessions. A
// worktree without an id made none.
func NewWalk(worktreeID string, sessions ...*State) *Walk {
	w := &Walk{}
	r := walkReader{walk: w, steps: map[name.OID]walkStep{}}
	for _, s := range sessions {
		q := moveQueue{state: s}
		for _, e := range s.Rollbacks {
			if worktreeID != "" && e.WorktreeID == worktreeID {
				q.moves = append(q.moves, e)
			}
		}
		r.queues = append(r.queues, q)
	}
	for e, s := r.next(); e != nil; e, s = r.next() {
		r.take(e, s)
	}
	return w
}

// TimeAfter is the time of the worktree's next move: now, or just after its newest move
// where the clock was set back. Moves of two sessions have no other order than their times.
func (w *Walk) TimeAfter(now time.Time) time.Time {
	now = now.UTC().Truncate(time.Millisecond)
	if earliest := w.newest.Add(time.Millisecond); now.Before(earliest) {
		return earliest
	}
	return now
}

// walkStep is what is known of a move that was read.
type walkStep struct {
	rollback *Event // of its level
	isUndo   bool   // it is the undo of a rollback or of a redo
}

// walkReader puts the moves of a worktree's sessions into the lists.
type walkReader struct {
	walk   *Walk
	queues []moveQueue
	steps  map[name.OID]walkStep
}

// moveQueue holds the moves of a session that were not read yet, in the order of the fold.
type moveQueue struct {
	state *State
	moves []*Event
}

// next takes the earliest of the moves that come next in their sessions.
func (r *walkReader) next() (*Event, *State) {
	var best *moveQueue
	for i := range r.queues {
		q := &r.queues[i]
		if len(q.moves) > 0 && (best == nil || isEarlier(q.moves[0], best.moves[0])) {
			best = q
		}
	}
	if best == nil {
		return nil, nil
	}
	e := best.moves[0]
	best.moves = best.moves[1:]
	return e, best.state
}

// isEarlier compares as the fold does.
func isEarlier(a, b *Event) bool {
	if a.Time.Equal(b.Time) {
		return a.OID < b.OID
	}
	return a.Time.Before(b.Time)
}

// take applies a move to the lists. An undo that names no earlier move of this worktree
// counts as a rollback: a copied worktree or a damaged session can leave one.
func (r *walkReader) take(e *Event, s *State) {
	w := r.walk
	if e.Time.After(w.newest) {
		w.newest = e.Time
	}
	named, known := r.steps[e.Undoes]
	if e.Kind == KindRollback || !known {
		w.Undo, w.Redo = append(w.Undo, Level{e, e, s}), nil
		r.steps[e.OID] = walkStep{rollback: e}
		return
	}
	level := Level{named.rollback, e, s}
	w.Undo, w.Redo = without(w.Undo, level.Rollback), without(w.Redo, level.Rollback)
	if named.isUndo {
		w.Undo = append(w.Undo, level)
	} else {
		w.Redo = append(w.Redo, level)
	}
	r.steps[e.OID] = walkStep{level.Rollback, !named.isUndo}
}

// without takes the level of a rollback out of a list.
func without(levels []Level, rollback *Event) []Level {
	for i, l := range levels {
		if l.Rollback == rollback {
			return append(levels[:i:i], levels[i+1:]...)
		}
	}
	return levels
}

// UndosTo is how many levels an undo has to take back until a discarded checkpoint is live
// again; 0 where no single undo does that. One undo takes several levels only if they are of one
// session and bring back the same parts.
func (w *Walk) UndosTo(c *Entry) int {
	var moves []*Event
	for _, l := range slices.Backward(w.Undo) {
		if l.State.Entry(c.Checkpoint) != c || len(moves) > 0 && (l.Head.Mode != moves[0].Mode || l.Head.Branch != "" || moves[0].Branch != "") {
			break
		}
		moves = append(moves, l.Head)
		plans, err := l.State.PlanEach(moves)
		if err != nil {
			break
		}
		if slices.Contains(plans[len(plans)-1].Restore, c.Checkpoint) {
			if safety := l.State.Entry(l.Head.Safety); safety == nil || safety.Dead {
				break
			}
			return len(moves)
		}
	}
	return 0
}

// PlanEach plans the events that take back moves of this journal one after the other,
// each on the fold that the event before it leaves.
func (s *State) PlanEach(moves []*Event) ([]Plan, error) {
	plans := make([]Plan, 0, len(moves))
	for i, v := range moves {
		p, err := s.PlanUndoOf(v)
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
		if i < len(moves)-1 {
			s = s.after(p, i)
		}
	}
	return plans, nil
}

// after is the state that the event of a plan will leave. Nothing is concurrent with an
// event at the tip, so its id and its time do not matter.
func (s *State) after(p Plan, number int) *State {
	l := s.fold.log.clipped()
	tip := l.Tip().OID
	e := &Event{
		OID: name.OID(fmt.Sprintf("planned-%d", number)), Parents: []name.OID{tip}, Kind: KindUndo, Session: s.Session,
		Time: s.UpdatedAt, From: p.From, To: p.Target, Undoes: p.Undoes.OID, Discard: p.Discard, Restore: p.Restore,
	}
	l.append([]Node{{OID: e.OID, Parents: e.Parents, Event: e}})
	return l.Fold()
}

// OthersAfter are the checkpoints, rollbacks and undos of other worktrees that come after
// an event of this journal in its order.
func (s *State) OthersAfter(e *Event) []*Event {
	var others []*Event
	l, after := &s.fold.log, false
	for i := range l.nodes {
		at := l.position(i)
		n := &l.nodes[at]
		switch {
		case n.class == classMerge:
		case !after:
			after = l.oid(at) == e.OID
		case n.special() != nil && n.special().From != "" && n.special().From == n.special().To: // it only discards what stands in for what was discarded
		case n.class == classCreate && !n.safety || n.special() != nil && n.special().moves():
			if !l.is(at, textWorktreeID, e.WorktreeID) {
				others = append(others, l.event(at))
			}
		}
	}
	return others
}

// LastSeen is the time of the newest event that a worktree wrote here; zero when it wrote none.
func (s *State) LastSeen(worktreeID string) time.Time {
	if s.fold == nil {
		return time.Time{}
	}
	newest, l := int64(-1), &s.fold.log
	for i := range l.nodes {
		n := &l.nodes[i]
		if n.class != classMerge && n.time > newest && l.is(int32(i), textWorktreeID, worktreeID) { // a journal has at most MaxNodes
			newest = n.time
		}
	}
	if newest < 0 {
		return time.Time{}
	}
	return time.UnixMilli(newest).UTC()
}
