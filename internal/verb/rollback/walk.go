package rollback

// This file reads the undo and redo lists of this worktree and plans an undo or redo of their
// levels. A level is a rollback together with the undos and redos of it; its head is the newest of
// these events. See "Levels" in docs/format.md.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// direction selects one of the two lists of a worktree, and is also the name of the command.
type direction string

const (
	back    direction = "undo"
	forward direction = "redo"
)

// undoLists holds the undo and redo lists of this worktree, and the sessions that they were read from.
type undoLists struct {
	*journal.Walk
	states []*journal.State
}

// levels returns a list with the next level to undo (or redo) first.
func (w *undoLists) levels(d direction) []journal.Level {
	levels := slices.Clone(w.Undo)
	if d == forward {
		levels = slices.Clone(w.Redo)
	}
	slices.Reverse(levels)
	return levels
}

// entry finds a checkpoint in any of the sessions. An expunged one is replaced by the one that
// stands in for it.
func (w *undoLists) entry(id name.ID) *journal.Entry {
	for _, st := range w.states {
		if e := st.Entry(st.StandIn(id)); e != nil {
			return e
		}
	}
	return nil
}

// readLists reads the lists of this worktree from the journals of all sessions. A session that
// cannot be read is left out with a warning.
func readLists(ctx context.Context, s *store.Store) (*undoLists, error) {
	id, err := s.WorktreeID()
	if err != nil {
		return nil, err
	}
	states, err := checkpoint.States(ctx, s, "session %q cannot be read, so its rollbacks are not in the lists: %v")
	if err != nil {
		return nil, err
	}
	return &undoLists{Walk: journal.NewWalk(id, states...), states: states}, nil
}

// PrepareUndo plans an undo of the last rollbacks of this worktree, or a redo of the last undos.
func PrepareUndo(ctx context.Context, s *checkpoint.Service, req UndoRequest) (*Plan, error) {
	if err := refuseUnfinished(s.Repo); err != nil { // an unfinished one may be in no journal yet
		return nil, err
	}
	w, err := readLists(ctx, s.Store)
	if err != nil {
		return nil, err
	}
	u := undo{lists: w, direction: back, takeCommits: req.Force}
	if req.Redo {
		u.direction = forward
	}
	if u.levels, err = chooseLevels(ctx, s.Sessions, w, req, u.direction); err != nil {
		return nil, err
	}
	plans, err := planEach(u.levels)
	if err != nil {
		return nil, err
	}
	t, err := targetOfUndo(ctx, s, u, plans)
	if err != nil {
		return nil, err
	}
	did, what := u.levels[0].Rollback, "a restore of some paths"
	if e := t.To.State.Entry(did.To); !t.Part && e != nil {
		what = "the rollback to " + checkpoint.CalledBy(e)
	} else if !t.Part {
		what = "the rollback to " + did.ToLabel
	}
	if did.Mode == string(ModePromote) || did.Mode == string(ModeLand) {
		what = cmp.Or(did.Reason, what) // "promote 3a: ..."
	}
	t.Before = "before the " + string(u.direction) + " of " + what
	t.req.DryRun, t.req.OverwriteIgnored = req.DryRun, req.OverwriteIgnored
	p, err := plan(ctx, t)
	if err == nil && !req.Redo {
		p.Answer().SavedSince = savedSince(ctx, s.Sessions)
	}
	return p, err
}

// chooseLevels returns the levels to undo, in the order in which they are undone.
func chooseLevels(ctx context.Context, s *checkpoint.Sessions, w *undoLists, req UndoRequest, d direction) ([]journal.Level, error) {
	levels := w.levels(d)
	if len(levels) == 0 {
		return nil, nothingThere(ctx, s, w, req)
	}
	// To undo down to a named level means to undo all the newer ones, too.
	count := max(req.Levels, 1)
	if req.To != "" {
		at, err := findLevel(ctx, s, levels, req.To)
		if err != nil {
			return nil, err
		}
		count = at + 1
	}
	if count > len(levels) {
		hint := fmt.Sprintf("`git checkpoint %s --list` shows them", d)
		return nil, checkpoint.Failure(checkpoint.KindNotFound, hint, "there are only %d to %s in this worktree", len(levels), d)
	}
	return levels[:count], nil
}

// nothingThere returns the error for an empty list. A worktree that lost its id cannot know its own
// rollbacks, so the hints show all candidates of the session.
func nothingThere(ctx context.Context, s *checkpoint.Sessions, w *undoLists, req UndoRequest) error {
	if req.Redo {
		return checkpoint.Failure(checkpoint.KindNotFound, "", "there is nothing to redo in this worktree: no undo since its last rollback")
	}
	e := &checkpoint.Error{Kind: checkpoint.KindNotFound, Err: journal.ErrNothingToUndo}
	if len(w.Redo) > 0 { // a redo is what the user may want
		e = checkpoint.Failure(checkpoint.KindNotFound, "`git checkpoint redo` redoes the last one", "every rollback of this worktree is undone")
	}
	if hint := savedSince(ctx, s); hint != "" {
		e.Hints = append(e.Hints, hint)
	}
	if len(w.Redo) > 0 {
		return e
	}
	session, err := s.ChooseSession(ctx, "")
	if err != nil {
		return err
	}
	id, _ := s.Store.WorktreeID() //nolint:errcheck // then nothing was done here
	for _, st := range w.states {
		if st.Session != session || st.Worked(id) { // then what was done elsewhere is about other files
			continue
		}
		for _, c := range st.UndoCandidates() {
			if c.WorktreeID == "" && c.From == c.To { // it only put a session in order
				continue
			}
			back := c.From
			if safety := st.Entry(c.Safety); safety != nil && !safety.Dead { // it has what was not saved, too
				back = c.Safety
			}
			e.Hints = append(e.Hints, fmt.Sprintf("%s in worktree %s: `git checkpoint rollback %s`", w.said(ctx, s.Store, c), c.Worktree, back))
		}
	}
	return e
}

// savedSince says how to remove the checkpoint that was saved last, if nothing has happened in its
// session since: somebody who has just saved here by mistake may expect an undo to take it back.
func savedSince(ctx context.Context, s *checkpoint.Sessions) string {
	session, err := s.ChooseSession(ctx, "")
	if err != nil {
		return ""
	}
	st, err := checkpoint.State(ctx, s.Store, session)
	if err != nil {
		return ""
	}
	last := st.Last()
	if last == nil {
		return ""
	}
	e := st.Entry(last.Checkpoint)
	if last.Kind != journal.KindCreate || e == nil || !e.Live || !e.Milestone || e.Checkpoint != st.Place || slices.Contains([]string{workflow.TriggerPromote, workflow.TriggerRevert}, e.Event().Trigger) {
		return ""
	}
	m := checkpoint.Mentioned(ctx, s.Store, st, e)
	return "an undo takes rollbacks back, not saves: `git checkpoint delete " + checkpoint.TypedName(st, e) + "` removes " + strings.Map(oneLine, m.String())
}

// oneLine replaces control characters, as in the name of a file.
func oneLine(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// findLevel returns the index of the level that the user named: by one of its events, by the safety
// checkpoint that it made, or by the checkpoint that it went to.
func findLevel(ctx context.Context, s *checkpoint.Sessions, levels []journal.Level, to string) (int, error) {
	const shortestEvent = 4 // how many digits of an event's id must be typed
	named := func(e *journal.Event) bool {
		return len(to) >= shortestEvent && strings.HasPrefix(string(e.OID), strings.ToLower(to))
	}
	if at := slices.IndexFunc(levels, func(l journal.Level) bool { return named(l.Head) || named(l.Rollback) }); at >= 0 {
		return at, nil
	}
	// Compare with the checkpoints of the levels first: they may be discarded now, and then Resolve
	// would find others by the same number.
	for _, of := range []func(journal.Level) []name.ID{
		func(l journal.Level) []name.ID { return []name.ID{l.Head.Safety, l.Rollback.Safety} },
		func(l journal.Level) []name.ID { return []name.ID{l.Rollback.Files, l.Rollback.To} },
	} {
		at := slices.IndexFunc(levels, func(l journal.Level) bool {
			return slices.ContainsFunc(of(l), func(id name.ID) bool {
				e := l.State.Entry(id)
				return e != nil && (to == e.Label || to == string(e.Checkpoint) || e.Milestone && to == strconv.Itoa(e.Step))
			})
		})
		if at >= 0 {
			return at, nil
		}
	}
	// Not a name that the levels know. It may be another name of a checkpoint, such as @~2.
	f, err := s.Resolve(ctx, "", to)
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(levels, func(l journal.Level) bool { return l.Rollback.To == f.Entry.Checkpoint })
	if at < 0 {
		return 0, checkpoint.Failure(checkpoint.KindNotFound, "`git checkpoint undo --list` shows the rollbacks that can be named", "no rollback in the list went to %s", checkpoint.Mentioned(ctx, s.Store, f.State, f.Entry))
	}
	return at, nil
}

// planEach plans each level on the fold that the ones before it leave.
func planEach(levels []journal.Level) ([]journal.Plan, error) {
	plans := make([]journal.Plan, len(levels))
	for _, in := range bySession(levels) {
		moves := gather.List(in, func(at int) *journal.Event { return levels[at].Head })
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

// bySession groups the indexes of levels by session, in the order of each session's first level.
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

// withoutSafety returns the error for an undo of count levels whose last one has no safety
// checkpoint any more. An undo of more levels may still work, if a later one has its safety
// checkpoint.
func (w *undoLists) withoutSafety(ctx context.Context, s *store.Store, d direction, count int) error {
	all := w.levels(d)
	last := all[count-1]
	done := "undone"
	if d == forward {
		done = "redone"
	}
	what := w.named(ctx, s, last.Rollback)
	e := checkpoint.Failure(checkpoint.KindNotFound, "", "%s cannot be %s: its safety checkpoint %s was pruned", what, done, last.Head.Safety)
	if last.Head.Safety == "" {
		e.Message = fmt.Sprintf("%s cannot be %s: it made no safety checkpoint", what, done)
	}
	for i := count; i < len(all); i++ {
		if !isGone(w.entry(all[i].Head.Safety)) {
			e.Hints = append(e.Hints, fmt.Sprintf("`git checkpoint %s %d` skips it", d, i+1))
			return e
		}
	}
	e.Hints = append(e.Hints, "`git checkpoint rollback` still goes to what `git checkpoint list --hidden` shows")
	return e
}

// sameOperation reports whether the rollbacks to be undone were made during the same operation of
// git, such as a merge, that is in progress now. Then they restored files only, and so may their
// undo. Any other undo has to wait until the operation is over.
func (u undo) sameOperation(ctx context.Context, s *store.Store) bool {
	op := s.Repo.Checkout.Operation()
	if op == "" {
		return false
	}
	for _, l := range u.levels {
		e := u.lists.entry(l.Head.Safety)
		if isGone(e) {
			return false
		}
		then, err := checkpoint.ReadRecord(ctx, s, e)
		if err != nil || then.Git.Operation != op {
			return false
		}
	}
	return true
}

// modeOf returns what an undo of the event restores.
func modeOf(e *journal.Event) Mode {
	switch m := Mode(e.Mode); {
	case m == ModeWorktree, m == ModeState, m == ModeLand, e.Stays():
		return m
	}
	return ModeAll // the safety checkpoint has everything, whatever the scope was
}

// movesIndex reports whether an undo of the event restores the index. It does if the event moved
// everything, or moved HEAD, because the index went with it.
func movesIndex(e *journal.Event) bool {
	m := modeOf(e)
	return m == ModeAll || m == ModeLand || m == ModeWorktree && e.Branch != ""
}

// undoEvents completes the events of an undo for the journal as it is now. first has what they have
// in common.
func undoEvents(st *journal.State, first journal.Event, levels []checkpoint.UndoneLevel) ([]journal.Event, error) {
	const aMoment = time.Millisecond // the time between the events of one undo. The fold sorts events by time, so they must differ
	moves := make([]*journal.Event, 0, len(levels))
	for _, l := range levels {
		at := slices.IndexFunc(st.Rollbacks, func(u *journal.Event) bool { return u.OID == l.Undoes })
		if at < 0 {
			return nil, fmt.Errorf("event %s is no longer in the journal", l.Undoes.Short())
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

// netLists returns the checkpoints that several plans together discard and restore. A checkpoint
// that ends as it was is in neither.
func netLists(st *journal.State, plans []journal.Plan) (discard, restore []name.ID) {
	live := map[name.ID]bool{}
	for _, p := range plans {
		for _, id := range p.Discard {
			live[id] = false
		}
		for _, id := range p.Restore {
			live[id] = true
		}
	}
	var changed []*journal.Entry
	for id, to := range live {
		if e := st.Entry(id); e != nil && e.Live != to {
			changed = append(changed, e)
		}
	}
	slices.SortFunc(changed, func(a, b *journal.Entry) int { return a.Place - b.Place })
	for _, e := range changed {
		if e.Live {
			discard = append(discard, e.Checkpoint)
		} else {
			restore = append(restore, e.Checkpoint)
		}
	}
	return discard, restore
}
