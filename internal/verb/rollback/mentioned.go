package rollback

// This file adds to a plan what only people read: messages, ages and numbers of lines.

import (
	"context"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/inspect"
)

// linesCounted is the largest number of files whose lines a plan counts.
const linesCounted = 1000

// source mentions the checkpoint whose files come back.
func (r *target) source() checkpoint.Mention {
	m := checkpoint.MentionOf(r.record)
	if e := r.To.State.Entry(r.record.ID); e != nil {
		m.Name = checkpoint.NameTo(r.To.State, e)
	}
	return m
}

// CountLines counts the lines that the plan changes, for people who read it. An error leaves the
// numbers out.
func (r *Plan) CountLines(ctx context.Context) {
	changed := len(r.answer.Plan.Write)
	if r.plan == nil || r.cur == nil || r.record.Snapshot.Tree == "" || changed == 0 || changed > linesCounted {
		return
	}
	counts, err := inspect.CountsBetween(ctx, r.s, r.cur.Tree, r.record.Snapshot.Tree)
	if err != nil {
		return
	}
	r.answer.Lines = map[checkpoint.Path]inspect.FileCount{}
	for _, f := range counts {
		r.answer.Lines[checkpoint.Path(f.Path)] = f
	}
}

// ChangesFiles reports whether the plan writes or deletes any file.
func (r *Plan) ChangesFiles() bool {
	return r.plan != nil && r.cur != nil && r.record.Snapshot.Tree != "" && len(r.answer.Plan.Write)+len(r.answer.Plan.Delete)+len(r.answer.Plan.Mode) > 0
}

// Service returns what the plan was computed with.
func (r *Plan) Service() *checkpoint.Service { return r.s }

// PrintDiff lets git print what the plan changes in files, from the worktree as it is to what comes
// back. If there are very many files, it compares everything. It returns git's exit code.
func (r *Plan) PrintDiff(ctx context.Context, to inspect.IO) (int, error) {
	var paths []string
	if all := slices.Concat(r.answer.Plan.Write, r.answer.Plan.Delete, r.answer.Plan.Mode); len(all) <= linesCounted {
		paths = append(paths, gather.List(all, func(path checkpoint.Path) string { return ":(top,literal)" + string(path) })...)
	}
	return inspect.PrintDiff(ctx, r.s, &inspect.Difference{FromTree: r.cur.Tree, ToTree: r.record.Snapshot.Tree}, paths, nil, to)
}

// finished says what a cut-off rollback was: one of some paths, an undo or a redo.
func (a *Answer) finished(ctx context.Context, s *store.Store, st *journal.State, event journal.Event) {
	if a.Stays = event.Stays(); event.Undoes != "" {
		a.Command = string(back)
	}
	if slices.ContainsFunc(st.Rollbacks, func(e *journal.Event) bool { return e.Kind == journal.KindUndo && e.OID == event.Undoes }) {
		a.Command = string(forward)
	}
	if e := st.Entry(event.Files); a.Stays && e != nil {
		a.FilesFrom, a.Source = &checkpoint.Labelled{ID: e.Checkpoint, Label: e.Label}, checkpoint.Mentioned(ctx, s, st, e)
	}
}
