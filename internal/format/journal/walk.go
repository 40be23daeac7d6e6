package journal

// This file computes what undo and redo mean in a worktree. The journal only has rollback and undo
// events, and the event of a redo is an undo of an undo. A worktree may also have rolled back in
// several sessions, each with a journal of its own. NewWalk merges the worktree's events of all
// sessions and replays them into an undo list and a redo list, as an editor has them.

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
)

// Level is a rollback together with all its undos and redos so far. An undo or redo moves one level
// from one list to the other.
type Level struct {
	Rollback *Event
	Head     *Event // the last event of the level; the next undo or redo takes it back
	State    *State // of the session whose journal has Head
}

// Walk holds what a worktree can undo and redo, over all its sessions. The last level of each list
// is the next one to be taken.
type Walk struct {
	Undo, Redo []Level
	newest     time.Time // time of the worktree's newest rollback or undo
}

// NewWalk computes the lists of a worktree from its rollbacks and undos in the given sessions. Both
// lists are empty for a worktree without an id. The events of a session are taken in the order of
// its fold, even where their times are not ascending, and of several sessions the earliest first.
func NewWalk(worktreeID string, sessions ...*State) *Walk {
	moves := make([][]*Event, len(sessions)) // those that were not taken yet
	for i, s := range sessions {
		moves[i] = gather.Those(s.Rollbacks, func(e *Event) bool { return worktreeID != "" && e.WorktreeID == worktreeID })
	}
	w, steps := &Walk{}, map[name.OID]walkStep{}
	for {
		first := -1
		for i, m := range moves {
			// By time and id, as the fold does.
			if len(m) > 0 && (first < 0 || cmp.Or(m[0].Time.Compare(moves[first][0].Time), cmp.Compare(m[0].OID, moves[first][0].OID)) < 0) {
				first = i
			}
		}
		if first < 0 {
			return w
		}
		w.apply(moves[first][0], sessions[first], steps)
		moves[first] = moves[first][1:]
	}
}

// TimeAfter returns the time for the worktree's next rollback or undo: now, or one millisecond
// after the newest one if the clock was set back. Events of two sessions are ordered by their times
// only, so they must increase.
func (w *Walk) TimeAfter(now time.Time) time.Time {
	now = now.UTC().Truncate(time.Millisecond)
	if earliest := w.newest.Add(time.Millisecond); now.Before(earliest) {
		return earliest
	}
	return now
}

// walkStep is what NewWalk remembers of each event that it has taken.
type walkStep struct {
	rollback *Event // the rollback of its level
	isUndo   bool   // an undo of a rollback or of a redo; else a rollback or a redo
}

// apply applies an event to the lists. A rollback becomes a new level and empties the redo list,
// since there is nothing to redo after new work. An undo that names no earlier event of this
// worktree counts as a rollback; the copy of a worktree or a damaged session can leave one.
func (w *Walk) apply(e *Event, s *State, steps map[name.OID]walkStep) {
	if e.Time.After(w.newest) {
		w.newest = e.Time
	}
	named, known := steps[e.Undoes]
	if e.Kind == KindRollback || !known {
		w.Undo, w.Redo = append(w.Undo, Level{e, e, s}), nil
		steps[e.OID] = walkStep{rollback: e}
		return
	}
	level := Level{named.rollback, e, s}
	w.Undo, w.Redo = dropLevel(w.Undo, level.Rollback), dropLevel(w.Redo, level.Rollback)
	if named.isUndo {
		w.Undo = append(w.Undo, level)
	} else {
		w.Redo = append(w.Redo, level)
	}
	steps[e.OID] = walkStep{level.Rollback, !named.isUndo}
}

// dropLevel returns levels without the level of a rollback. It does not change the slice's array.
func dropLevel(levels []Level, rollback *Event) []Level {
	return slices.DeleteFunc(slices.Clone(levels), func(l Level) bool { return l.Rollback == rollback })
}

// UndosTo returns how many levels an undo has to take back until the discarded checkpoint c is live
// again, or 0 if one undo command cannot do that. A command takes several levels at once only if
// they are in the same session, have the same Mode and move no branch.
func (w *Walk) UndosTo(c *Entry) int {
	var moves []*Event
	var first *Event // of those that moved the session
	for _, l := range slices.Backward(w.Undo) {
		if l.State.Entry(c.Checkpoint) != c {
			break
		}
		if !l.Head.Stays() {
			if first != nil && (l.Head.Mode != first.Mode || l.Head.Branch != "" || first.Branch != "") {
				break
			}
			first = cmp.Or(first, l.Head)
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

// PlanEach plans the undos of several moves, to be written one after the other in one transaction.
// Each is planned on the state that the one before it leaves.
func (s *State) PlanEach(moves []*Event) ([]Plan, error) {
	plans := make([]Plan, 0, len(moves))
	for i, v := range moves {
		p, err := s.PlanUndoOf(v)
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
		if i < len(moves)-1 {
			s = s.stateAfter(p, i)
		}
	}
	return plans, nil
}

// stateAfter returns the state as it will be when the event of plan p is written. It appends a made-up
// event to a copy of the journal. An event at the tip is concurrent with nothing, so its id and
// time do not matter.
func (s *State) stateAfter(p Plan, number int) *State {
	l := s.fold.log.clipped()
	tip := l.Tip().OID
	e := &Event{
		OID: name.OID(fmt.Sprintf("planned-%d", number)), Parents: []name.OID{tip}, Kind: KindUndo, Session: s.Session,
		Time: s.UpdatedAt, WorktreeID: s.worktree, From: p.From, To: p.Target, Undoes: p.Undoes.OID, Discard: p.Discard, Restore: p.Restore,
	}
	if p.Undoes.Stays() {
		e.Mode = ModePaths
	}
	l.append([]Node{{OID: e.OID, Parents: e.Parents, Event: e, CommitterTime: s.UpdatedAt.Truncate(time.Second)}})
	return l.FoldAt(s.worktree, s.former...)
}

// OthersAfter returns the checkpoints, rollbacks and undos of other worktrees that come after e in
// the order of the journal. The plan of an undo of e mentions them.
func (s *State) OthersAfter(e *Event) []*Event {
	var others []*Event
	l, after := &s.fold.log, false
	for at, n := range l.events() {
		switch {
		case !after:
			after = l.oid(at) == e.OID
		case n.special() != nil && n.special().From != "" && n.special().From == n.special().To: // it moved nobody
		case n.class == classCreate && !n.safety || n.special() != nil && n.special().moves():
			if n.worktree != e.WorktreeID {
				others = append(others, l.event(at))
			}
		}
	}
	return others
}
