package rollback

// This file describes the undo and redo lists of a worktree for people: `undo --list`, and the
// lines of an answer that say what the next undo would do.

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/store"
)

// Levels returns what this worktree can undo and redo, the next one first.
func Levels(ctx context.Context, s *store.Store) (undo, redo []UndoLevel, err error) {
	w, err := readLists(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	if undo, err = w.list(ctx, s, back); err == nil {
		redo, err = w.list(ctx, s, forward)
	}
	return undo, redo, err
}

// Next returns what the next undo and the next redo would do, or nil.
func Next(ctx context.Context, s *store.Store) (undo, redo *UndoLevel, err error) {
	w, err := readLists(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	next := func(d direction) *UndoLevel {
		levels := w.levels(d)
		if len(levels) == 0 {
			return nil
		}
		shown := w.shown(ctx, s, d, 1, levels[0])
		return &shown
	}
	return next(back), next(forward), nil
}

func (w *undoLists) list(ctx context.Context, s *store.Store, d direction) (_ []UndoLevel, err error) {
	levels := []UndoLevel{}
	for i, l := range w.levels(d) {
		shown := w.shown(ctx, s, d, i+1, l)
		if shown.Files, err = changedBy(ctx, s, w, l.Rollback); err != nil {
			return nil, err
		}
		levels = append(levels, shown)
	}
	return levels, nil
}

// shown returns a level for an answer. n is its position in the list, from 1.
func (w *undoLists) shown(ctx context.Context, s *store.Store, d direction, n int, l journal.Level) UndoLevel {
	shown := UndoLevel{
		List: string(d), N: n, Event: l.Head.OID, Time: checkpoint.Time{Time: l.Head.Time}, Session: l.State.Session, What: l.Rollback.Subject(),
		Reason: l.Rollback.Reason, To: l.Head.From, ToLabel: l.Head.FromLabel, Safety: l.Head.Safety,
	}
	if l.Rollback.Mode == string(ModeLand) {
		shown.What, shown.Landing = l.Rollback.Reason, true // the branch has got commits
	}
	shown.Stays = shown.Landing || l.Rollback.Stays()
	if e := w.entry(l.Head.Safety); e != nil {
		shown.Available = !e.Dead
	}
	shown.Said, shown.Goes = w.said(ctx, s, l.Rollback), w.mention(ctx, s, l.Head.From)
	return shown
}

// said says what a rollback did, with the message of the checkpoint that it went to.
func (w *undoLists) said(ctx context.Context, s *store.Store, e *journal.Event) string {
	if e.Mode == string(ModeLand) {
		return e.Reason // "land cp-03 on main"
	}
	what := string(e.Kind) + " to " + w.mention(ctx, s, e.To).String()
	switch {
	case e.Mode == string(ModePromote) && w.reverts(e):
		return strings.Map(oneLine, "revert of "+w.called(ctx, s, e.Session, strings.TrimPrefix(e.Reason, "revert ")))
	case e.Mode == string(ModePromote) && e.Reason != "":
		return strings.Map(oneLine, "promotion of "+strings.TrimPrefix(e.Reason, "promote ")) // "promote 3a: ..."
	case e.Stays():
		what = "restore of some files"
		if e.Files != "" {
			what += " from " + w.mention(ctx, s, e.Files).String()
		}
	}
	if e.Reason != "" {
		what += ": " + e.Reason
	}
	return strings.Map(oneLine, what)
}

// reverts reports whether a promotion takes back steps: the checkpoint that is made next says so.
func (w *undoLists) reverts(e *journal.Event) bool {
	for _, st := range w.states {
		done := false
		for _, next := range st.Events() {
			if done && next.Kind == journal.KindCreate && next.WorktreeID == e.WorktreeID {
				return next.Trigger == workflow.TriggerRevert
			}
			done = done || next.OID == e.OID
		}
	}
	return false
}

// named is said, for use within a sentence.
func (w *undoLists) named(ctx context.Context, s *store.Store, e *journal.Event) string {
	said := w.said(ctx, s, e)
	if e.Mode == string(ModeLand) {
		return strconv.Quote(said)
	}
	return "the " + said
}

// mention returns how a checkpoint of any of the sessions is mentioned.
func (w *undoLists) mention(ctx context.Context, s *store.Store, id name.ID) checkpoint.Mention {
	for _, st := range w.states {
		if e := st.Entry(st.StandIn(id)); e != nil {
			return checkpoint.Mentioned(ctx, s, st, e)
		}
	}
	return checkpoint.Mention{Name: cmp.Or(string(id), "none")}
}

// called returns text with the message of the checkpoint that it begins with, if it is the name of one.
func (w *undoLists) called(ctx context.Context, s *store.Store, session name.Session, text string) string {
	named, _, _ := strings.Cut(text, ": ")
	for _, st := range w.states {
		for _, e := range st.Checkpoints() {
			if st.Session == session && e.Live && checkpoint.CalledBy(e) == named {
				return checkpoint.Mentioned(ctx, s, st, e).String() + strings.TrimPrefix(text, named)
			}
		}
	}
	return text
}

// changedBy returns how many files a rollback changed, or nil if that is not known (any more).
func changedBy(ctx context.Context, s *store.Store, w *undoLists, e *journal.Event) (*int, error) {
	after := cmp.Or(e.Files, e.To)
	// The rollback changed the worktree from its safety checkpoint to the checkpoint it went to.
	a, b := w.entry(e.Safety), w.entry(after)
	switch Mode(e.Mode) {
	case ModeState:
		return new(0), nil
	case ModePaths, ModeProduced, ModePromote, ModeLand: // it changed only some of the differing files
		return nil, nil
	}
	if isGone(a) || isGone(b) {
		return nil, nil
	}
	if Mode(e.Mode) == ModeWorktree { // with paths it changed only some, too
		rec, err := checkpoint.ReadRecord(ctx, s, a)
		if err != nil {
			return nil, nil //nolint:nilerr // a damaged one is in the list too, and validate names it
		}
		if _, partly := madeOf(rec); partly {
			return nil, nil
		}
	}
	from, err := treeOf(ctx, s.Repo, a)
	to, failed := treeOf(ctx, s.Repo, b)
	if err != nil || failed != nil {
		return nil, nil //nolint:nilerr // a damaged one is in the list too, and validate names it
	}
	changes, err := s.Repo.Trees.Diff(ctx, from, to)
	return new(len(changes)), err
}

// shownLevels returns the levels that an undo or redo covers, and what other worktrees did since the
// oldest of them in each session.
func (u undo) shownLevels(ctx context.Context, s *store.Store) (levels []UndoLevel, meanwhile []Meanwhile) {
	for i, l := range u.levels {
		levels = append(levels, u.lists.shown(ctx, s, u.direction, i+1, l))
	}
	for _, in := range bySession(u.levels) {
		// The levels of a session are ordered from the newest to the oldest.
		oldest := u.levels[in[len(in)-1]]
		for _, e := range oldest.State.OthersAfter(oldest.Head) {
			said := e.Subject()
			switch {
			case e.Kind == journal.KindRollback || e.Kind == journal.KindUndo:
				said = u.lists.said(ctx, s, e)
			case e.Checkpoint != "":
				said = string(e.Kind) + " " + u.lists.mention(ctx, s, e.Checkpoint).String()
			}
			meanwhile = append(meanwhile, Meanwhile{e.OID, e.Worktree, checkpoint.Time{Time: e.Time}, e.Subject(), said})
		}
	}
	return levels, meanwhile
}
