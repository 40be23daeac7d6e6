package answer

import (
	"io"
	"slices"
	"strconv"

	"git-checkpoint/internal/render"
	"git-checkpoint/internal/rollback"
)

// Levels is the answer of undo --list: the undo list and the redo list of the worktree, each with
// the next level first.
type Levels struct{ Undo, Redo []rollback.UndoLevel }

// JSON writes a line for each level.
func (a Levels) JSON(w io.Writer) error { return jsonLines(w, slices.Concat(a.Undo, a.Redo)) }

// text writes both lists in one table. A level whose safety checkpoint was pruned cannot be undone.
func (a Levels) text(p *page) {
	t := render.Table{Columns: []render.Column{
		{Title: "List"}, {Title: "#", Align: render.Right}, {Title: "Time"}, {Title: "Rollback", Min: 16}, {Title: "Files", Align: render.Right},
		{Title: "Goes to"}, {Title: "Safety"},
	}}
	for _, list := range [][]rollback.UndoLevel{a.Undo, a.Redo} {
		for _, l := range list {
			// The number is unknown for a partial rollback, and if a checkpoint was pruned or is
			// damaged.
			files := "?"
			if l.Files != nil {
				files = strconv.Itoa(*l.Files)
			}
			safety := cell(render.Dim, string(l.Safety))
			if !l.Available {
				safety = cell(render.Warning, "pruned")
			}
			t.Rows = append(t.Rows, []render.Cell{
				cell(render.Normal, l.List), cell(render.Normal, strconv.Itoa(l.N)), cell(render.Normal, p.view.Time(l.Time.Time)),
				cell(render.Normal, l.What), cell(render.Normal, files), cell(render.ID, place(l)), safety,
			})
		}
	}
	p.table(t)
	if len(t.Rows) == 0 && p.view.Layout == render.Aligned {
		p.line(plain("Nothing to undo and nothing to redo in this worktree."))
	}
}

// place returns the checkpoint that becomes current when a level is undone or redone.
func place(l rollback.UndoLevel) string {
	switch {
	case l.ToLabel != "":
		return l.ToLabel
	case l.To != "":
		return string(l.To)
	}
	return "none"
}

// walked tells what another undo and a redo would do now.
func (p *page) walked(r *rollback.Answer) {
	if next := r.NextUndo; next != nil {
		p.line(render.Span{Role: render.Hint, Text: "Undo:"}, plain(" git checkpoint undo goes on to "+place(*next)+", before "), plain(strconv.Quote(next.What)))
	}
	if next := r.NextRedo; next != nil {
		p.line(render.Span{Role: render.Hint, Text: "Redo:"}, plain(" git checkpoint redo goes to "+place(*next)))
	}
}

// meanwhile warns about events of other worktrees since then, which an undo may affect. It comes
// first in a plan.
func (p *page) meanwhile(events []rollback.Meanwhile) {
	var rows [][]render.Cell
	for _, m := range events {
		rows = append(rows, []render.Cell{
			cell(render.Warning, "worktree "+m.Worktree), cell(render.Normal, p.view.Time(m.Time.Time)), cell(render.Normal, m.What),
		})
	}
	p.section("Since then, in other worktrees", []render.Column{{}, {}, {Min: 20}}, rows)
}
