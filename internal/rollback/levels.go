package rollback

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/journal"
)

// Levels gives what this worktree can undo, or redo, the next one first.
func Levels(ctx context.Context, s *checkpoint.Service, redo bool) ([]UndoLevel, error) {
	w, err := readWalk(ctx, s)
	if err != nil {
		return nil, err
	}
	d := UndoRequest{Redo: redo}.direction()
	levels := []UndoLevel{}
	for i, l := range w.levels(d) {
		shown := w.shown(d, i+1, l)
		if shown.Files, err = changedBy(ctx, s, w, l.Rollback); err != nil {
			return nil, err
		}
		levels = append(levels, shown)
	}
	return levels, nil
}

// shown is a level as answers give it.
func (w *walked) shown(d direction, n int, l journal.Level) UndoLevel {
	shown := UndoLevel{
		List: string(d), N: n, Event: l.Head.OID, Time: checkpoint.Time{Time: l.Head.Time}, Session: l.State.Session, What: l.Rollback.Subject(),
		Reason: l.Rollback.Reason, To: l.Head.From, ToLabel: l.Head.FromLabel, Safety: l.Head.Safety,
	}
	if e := w.entry(l.Head.Safety); e != nil {
		shown.Available = !e.Dead
	}
	return shown
}

// changedBy counts the files that a rollback changed; nil where they are not known any more.
func changedBy(ctx context.Context, s *checkpoint.Service, w *walked, e *journal.Event) (*int, error) {
	after := e.To
	if e.Files != "" {
		after = e.Files
	}
	a, b := w.entry(e.Safety), w.entry(after)
	switch Mode(e.Mode) {
	case ModeState:
		none := 0
		return &none, nil
	case modePaths, ModeProduced, ModePromote, ModeLand: // only some of those that differ
		return nil, nil
	}
	if a == nil || b == nil || a.Dead || b.Dead {
		return nil, nil
	}
	from, err := s.Repo.ReadCommit(ctx, string(a.Event().Commit))
	if err != nil {
		return nil, nil //nolint:nilerr // a damaged one is in the list too, and validate names it
	}
	to, err := s.Repo.ReadCommit(ctx, string(b.Event().Commit))
	if err != nil {
		return nil, nil //nolint:nilerr // likewise
	}
	changes, err := s.Repo.DiffTrees(ctx, from.Tree, to.Tree)
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	count := len(changes)
	return &count, nil
}

// direction is the list that an undo or a redo goes over.
func (r *Plan) direction() direction { return UndoRequest{Redo: r.redo}.direction() }

// answerLevels says what an undo or a redo goes over, and what others did since.
func (r *Plan) answerLevels() {
	for i, l := range r.levels {
		r.answer.Levels = append(r.answer.Levels, r.walk.shown(r.direction(), i+1, l))
	}
	if r.undoes == nil {
		return
	}
	for _, in := range bySession(r.levels) {
		oldest := r.levels[in[len(in)-1]]
		for _, e := range oldest.State.OthersAfter(oldest.Head) {
			r.answer.Meanwhile = append(r.answer.Meanwhile, Meanwhile{Event: e.OID, Worktree: e.Worktree, Time: checkpoint.Time{Time: e.Time}, What: e.Subject()})
		}
	}
}

// answerNext says what the next undo and the next redo are, now that this one is done.
func (r *Plan) answerNext(ctx context.Context) {
	if r.undoes == nil {
		return
	}
	w, err := readWalk(ctx, r.s)
	if err != nil { // what was done was done
		r.s.Warn(err.Error())
		return
	}
	next := func(d direction) *UndoLevel {
		levels := w.levels(d)
		if len(levels) == 0 {
			return nil
		}
		shown := w.shown(d, 1, levels[0])
		return &shown
	}
	r.answer.NextUndo, r.answer.NextRedo = next(back), next(forward)
}
