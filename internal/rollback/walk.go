package rollback

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

// direction is which of the two lists of a worktree a walk goes over.
type direction string

const (
	back    direction = "undo"
	forward direction = "redo"
)

// walked are the two lists of this worktree, and the sessions that they were read from.
type walked struct {
	*journal.Walk
	states []*journal.State
}

// levels are those of a list, the next one to go first.
func (w *walked) levels(d direction) []journal.Level {
	levels := slices.Clone(w.Undo)
	if d == forward {
		levels = slices.Clone(w.Redo)
	}
	slices.Reverse(levels)
	return levels
}

// entry finds a checkpoint in any of the sessions.
func (w *walked) entry(id name.ID) *journal.Entry {
	for _, st := range w.states {
		if e := st.Entry(st.StandIn(id)); e != nil {
			return e
		}
	}
	return nil
}

// walk reads the lists of this worktree. One damaged session hides no other.
func readWalk(ctx context.Context, s *checkpoint.Service) (*walked, error) {
	id, err := s.Store.WorktreeID()
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	sessions, _, err := s.Store.Sessions(ctx)
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	w := &walked{}
	for _, info := range sessions {
		st, err := s.Store.State(ctx, info.Session)
		if err != nil {
			s.Warn(fmt.Sprintf("session %q cannot be read, so its rollbacks are not in the lists: %v", info.Session, err))
			continue
		}
		w.states = append(w.states, st)
	}
	w.Walk = journal.NewWalk(id, w.states...)
	return w, nil
}

// PrepareUndo plans to take back the last rollbacks of this worktree, or to do again what an
// undo took back.
func PrepareUndo(ctx context.Context, s *checkpoint.Service, req UndoRequest) (*Plan, error) {
	if err := refuseUnfinished(s); err != nil { // it may be the first one, and in no journal yet
		return nil, err
	}
	w, err := readWalk(ctx, s)
	if err != nil {
		return nil, err
	}
	levels, err := chooseLevels(ctx, s, w, req)
	if err != nil {
		return nil, err
	}
	r := &Plan{s: s, walk: w, levels: levels, redo: req.Redo}
	if err := r.prepareUndo(ctx); err != nil {
		return nil, err
	}
	r.req.DryRun = req.DryRun
	planned := *r
	think := func() error {
		planned = *r
		return planned.think(ctx)
	}
	if req.DryRun {
		err = s.RetryBorrowed(think)
	} else {
		err = think()
	}
	return &planned, err
}

// direction is the list that the request goes over.
func (r UndoRequest) direction() direction {
	if r.Redo {
		return forward
	}
	return back
}

// chooseLevels gives the levels to go over, in the order in which they go.
func chooseLevels(ctx context.Context, s *checkpoint.Service, w *walked, req UndoRequest) ([]journal.Level, error) {
	levels := w.levels(req.direction())
	if len(levels) == 0 {
		return nil, nothingThere(ctx, s, w, req)
	}
	count := max(req.Levels, 1)
	if req.To != "" {
		at, err := findLevel(ctx, s, levels, req.To)
		if err != nil {
			return nil, err
		}
		count = at + 1
	}
	if count > len(levels) {
		return nil, &checkpoint.Error{
			Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("there is no more than %d to %s in this worktree", len(levels), req.direction()),
			Hints: []string{fmt.Sprintf("`git checkpoint %s --list` shows them", req.direction())},
		}
	}
	return levels[:count], nil
}

// nothingThere says that a list is empty, and for a worktree that lost its id what others
// did.
func nothingThere(ctx context.Context, s *checkpoint.Service, w *walked, req UndoRequest) error {
	if req.Redo {
		return &checkpoint.Error{Kind: checkpoint.KindNotFound, Message: "there is nothing to redo in this worktree: no undo since its last rollback"}
	}
	if len(w.Redo) > 0 {
		return &checkpoint.Error{
			Kind: checkpoint.KindNotFound, Message: "every rollback of this worktree is undone",
			Hints: []string{"`git checkpoint redo` does the last one again"},
		}
	}
	e := &checkpoint.Error{Kind: checkpoint.KindNotFound, Err: journal.ErrNothingToUndo}
	session, err := s.ChooseSession(ctx, "")
	if err != nil {
		return err
	}
	for _, st := range w.states {
		if st.Session != session {
			continue
		}
		for _, c := range st.UndoCandidates() {
			e.Hints = append(e.Hints, fmt.Sprintf("%s in worktree %s: `git checkpoint rollback %s`", c.Subject(), c.Worktree, c.From))
		}
	}
	return e
}

// shortestEvent is how much of an event's id names it.
const shortestEvent = 4

// findLevel gives the place of the level that a person named: by one of its events, by the
// safety checkpoint that it made, or by the checkpoint that it went to.
func findLevel(ctx context.Context, s *checkpoint.Service, levels []journal.Level, to string) (int, error) {
	named := func(e *journal.Event) bool {
		return len(to) >= shortestEvent && strings.HasPrefix(string(e.OID), strings.ToLower(to))
	}
	if at := slices.IndexFunc(levels, func(l journal.Level) bool { return named(l.Head) || named(l.Rollback) }); at >= 0 {
		return at, nil
	}
	// The checkpoints of a list may be discarded by now, when their numbers mean others.
	for _, of := range []func(journal.Level) []name.ID{
		func(l journal.Level) []name.ID { return []name.ID{l.Head.Safety, l.Rollback.Safety} },
		func(l journal.Level) []name.ID { return []name.ID{l.Rollback.Files, l.Rollback.To} },
	} {
		at := slices.IndexFunc(levels, func(l journal.Level) bool {
			return slices.ContainsFunc(of(l), func(id name.ID) bool { return isCalled(l.State.Entry(id), to) })
		})
		if at >= 0 {
			return at, nil
		}
	}
	f, err := s.Resolve(ctx, "", to)
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(levels, func(l journal.Level) bool { return l.Rollback.To == f.Entry.Checkpoint })
	if at < 0 {
		return 0, &checkpoint.Error{
			Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("no rollback in the list went to %s", f.Entry.Label),
			Hints: []string{"`git checkpoint undo --list` shows the rollbacks that can be named"},
		}
	}
	return at, nil
}

// isCalled reports whether a checkpoint has a number, a label or an id.
func isCalled(e *journal.Entry, text string) bool {
	return e != nil && (text == e.Label || text == string(e.Checkpoint) || e.Milestone && text == strconv.Itoa(e.Step))
}

// prepareUndo fills in what the levels say: where they lead, whose files come back, and how.
func (r *Plan) prepareUndo(ctx context.Context) error {
	last := r.levels[len(r.levels)-1]
	var err error
	if r.plans, err = planEach(r.levels); err != nil {
		return checkpoint.Classify(err)
	}
	goal := r.plans[len(r.plans)-1]
	r.undoes = last.Head
	r.to = &checkpoint.Found{Session: last.State.Session, State: last.State, Entry: last.State.Entry(goal.Target)}
	return r.chooseParts(ctx)
}

// planEach plans the levels one after the other, each on the folds that those before it leave.
func planEach(levels []journal.Level) ([]journal.Plan, error) {
	plans := make([]journal.Plan, len(levels))
	for _, in := range bySession(levels) {
		moves := make([]*journal.Event, len(in))
		for i, at := range in {
			moves[i] = levels[at].Head
		}
		some, err := levels[in[0]].State.PlanEach(moves)
		if err != nil {
			return nil, err
		}
		for i, at := range in {
			plans[at] = some[i]
		}
	}
	return plans, nil
}

// bySession gives the places of the levels of each session, the session of the first level
// first.
func bySession(levels []journal.Level) [][]int {
	var all [][]int
	for i, l := range levels {
		of := slices.IndexFunc(all, func(in []int) bool { return levels[in[0]].State == l.State })
		if of < 0 {
			of, all = len(all), append(all, nil)
		}
		all[of] = append(all[of], i)
	}
	return all
}

// withoutSafety says that the files of the last of count levels are gone for good. A walk
// can pass over it to one that has its own.
func (w *walked) withoutSafety(d direction, count int) error {
	all := w.levels(d)
	last := all[count-1]
	e := &checkpoint.Error{Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("%q cannot be taken back: its safety checkpoint %s was pruned", last.Rollback.Subject(), last.Head.Safety)}
	if last.Head.Safety == "" {
		e.Message = fmt.Sprintf("%q cannot be taken back: it made no safety checkpoint", last.Rollback.Subject())
	}
	for i := count; i < len(all); i++ {
		if s := w.entry(all[i].Head.Safety); s != nil && !s.Dead {
			e.Hints = append(e.Hints, fmt.Sprintf("`git checkpoint %s %d` passes over it", d, i+1))
			break
		}
	}
	return e
}

// movesAside reports whether the undo of a level moves a branch that HEAD is not on.
func movesAside(ctx context.Context, s *checkpoint.Service, w *walked, l journal.Level) bool {
	e := w.entry(l.Head.Safety)
	if l.Head.Branch == "" || e == nil || e.Dead {
		return false
	}
	rec, _, _, err := s.ReadRecord(ctx, e)
	return err == nil && asideOf(rec).Name != ""
}

// sameOperation reports whether the rollbacks that are to be undone were made in the middle of what is
// in progress still: they brought files only, and so does their undo. Any other one moved more,
// which cannot come back before that is over.
func (r *Plan) sameOperation(ctx context.Context) bool {
	op := r.s.Repo.Operation()
	if op == "" {
		return false
	}
	for _, l := range r.levels {
		e := r.walk.entry(l.Head.Safety)
		if e == nil || e.Dead {
			return false
		}
		then, _, _, err := r.s.ReadRecord(ctx, e)
		if err != nil || then.Git.Operation != op {
			return false
		}
	}
	return true
}

// modeOf is what a rollback brought back, and its undo too.
func modeOf(e *journal.Event) Mode {
	switch m := Mode(e.Mode); m {
	case ModeWorktree, ModeState:
		return m
	}
	return ModeAll // the safety checkpoint has everything, whatever the scope was
}

// undoEvents completes the events of an undo on the journal as it is now; first is the
// first of them, as far as it is known.
func undoEvents(st *journal.State, first journal.Event, levels []checkpoint.UndoneLevel) ([]journal.Event, error) {
	moves := make([]*journal.Event, 0, len(levels))
	for _, l := range levels {
		at := slices.IndexFunc(st.Rollbacks, func(u *journal.Event) bool { return u.OID == l.Undoes })
		if at < 0 {
			return nil, fmt.Errorf("event %s is not in the journal any more", l.Undoes.Short())
		}
		moves = append(moves, st.Rollbacks[at])
	}
	plans, err := st.PlanEach(moves)
	if err != nil {
		return nil, err
	}
	label := func(id name.ID) string {
		if e := st.Entry(id); e != nil {
			return e.Label
		}
		return ""
	}
	events := make([]journal.Event, len(plans))
	for i, p := range plans {
		e := first
		e.Time = first.Time.Add(time.Duration(i) * aMoment)
		e.Safety, e.Mode, e.Branch = levels[i].Safety, levels[i].Mode, levels[i].Branch
		e.From, e.FromLabel, e.To, e.ToLabel = p.From, label(p.From), p.Target, label(p.Target)
		e.Undoes, e.Discard, e.Restore = p.Undoes.OID, p.Discard, p.Restore
		events[i] = e
	}
	return events, nil
}

// netLists are the checkpoints that several plans change in the end.
func netLists(st *journal.State, plans []journal.Plan) (discard, restore []name.ID) {
	live, order := map[name.ID]bool{}, []name.ID{}
	set := func(ids []name.ID, to bool) {
		for _, id := range ids {
			if _, known := live[id]; !known {
				order = append(order, id)
			}
			live[id] = to
		}
	}
	for _, p := range plans {
		set(p.Discard, false)
		set(p.Restore, true)
	}
	slices.SortFunc(order, func(a, b name.ID) int { return placeIn(st, a) - placeIn(st, b) })
	for _, id := range order {
		switch e := st.Entry(id); {
		case e == nil || e.Live == live[id]:
		case live[id]:
			restore = append(restore, id)
		default:
			discard = append(discard, id)
		}
	}
	return discard, restore
}

// placeIn is where a checkpoint stands in the order of the fold.
func placeIn(st *journal.State, id name.ID) int {
	if e := st.Entry(id); e != nil {
		return e.Place
	}
	return st.Len()
}
