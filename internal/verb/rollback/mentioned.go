package rollback

// This file adds to a plan what only people read: messages, ages and numbers of lines.

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/inspect"
)

// Mentioned is how people see the checkpoints of a plan.
type Mentioned struct {
	Target checkpoint.Mention                    // the checkpoint that becomes current; its Name is empty if none does
	Source checkpoint.Mention                    // the checkpoint whose files come back
	Leaves []checkpoint.Mention                  // those that are left behind, in the order of PlanFiles.Discard
	Lines  map[checkpoint.Path]inspect.FileCount // says by path how many lines change; nil: they were not counted
}

// messagesRead is how many of the checkpoints that are left behind get their message. Each costs the
// reading of a record, and a person sees fewer.
const messagesRead = 12

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

// mention fills in what a plan says of its checkpoints.
func (r *Plan) mention(ctx context.Context) {
	a := r.answer
	a.Source = r.source()
	if r.To.Entry != nil {
		a.Target = checkpoint.Mention{At: r.To.Entry.Event().Time}
		if r.goal.ID == r.To.Entry.Checkpoint {
			a.Target = checkpoint.MentionOf(r.goal)
		}
		a.Target.Name = checkpoint.NameTo(r.To.State, r.To.Entry)
	}
	for i, left := range r.left[:min(len(r.left), messagesRead)] {
		if left == nil {
			continue
		}
		st := r.lists.states[slices.IndexFunc(r.lists.states, func(of *journal.State) bool { return of.Session == left.Event().Session })]
		m := r.s.Mentioned(ctx, st, left)
		a.Leaves[i].Name = strings.TrimSuffix(a.Leaves[i].Name, checkpoint.CalledBy(left)) + m.Name
		a.Leaves[i].Message, a.Leaves[i].Files = m.Message, m.Files
	}
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
func (a *Answer) finished(ctx context.Context, s *checkpoint.Service, st *journal.State, event journal.Event) {
	a.Undid, a.Stays = event.Undoes != "", event.Stays()
	a.Redid = a.Undid && slices.ContainsFunc(st.Rollbacks, func(e *journal.Event) bool {
		return e.Kind == journal.KindUndo && e.OID == event.Undoes
	})
	if e := st.Entry(event.Files); a.Stays && e != nil {
		a.FilesFrom, a.Source = &checkpoint.Labelled{ID: e.Checkpoint, Label: e.Label}, s.Mentioned(ctx, st, e)
	}
}
