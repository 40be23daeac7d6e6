package answer

import (
	"cmp"
	"slices"
	"strconv"

	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/rollback"
)

// Levels is the answer of undo --list: the undo list and the redo list of the worktree, each with
// the next level first.
type Levels struct{ Undo, Redo []rollback.UndoLevel }

func (a Levels) shows() any { return slices.Concat(a.Undo, a.Redo) }

// text writes both lists in one table. A level whose safety checkpoint was pruned cannot be undone.
func (a Levels) text(p *page) {
	columns := []render.Column{
		{Title: "List"}, {Title: "#", Align: render.Right}, {Title: "Time"}, {Title: "Rollback", Min: 16}, {Title: "Files", Align: render.Right},
		{Title: "Goes to"}, {Title: "Safety"},
	}
	all := slices.Concat(a.Undo, a.Redo)
	if !p.view.Verbose { // the first columns tell the rows apart
		columns = []render.Column{{Title: "List"}, {Title: "#", Align: render.Right}, {Title: "Rollback", Min: 36}, {Title: "Files", Align: render.Right}, {Title: "Goes to", Min: 8}, {Title: "Time", Min: 8}}
	}
	p.table(columns, gather.List(all, func(l rollback.UndoLevel) []render.Cell {
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
		if !p.view.Verbose {
			what := say(l.Said)
			if !l.Available {
				what = cell(render.Warning, "pruned: "+l.Said)
			}
			return []render.Cell{say(l.List), say(strconv.Itoa(l.N)), what, say(files), mention(l.Goes), say(p.view.Time(l.Time.Time))}
		}
		goes := cell(render.ID, cmp.Or(l.ToLabel, string(l.To), "none"))
		return []render.Cell{say(l.List), say(strconv.Itoa(l.N)), say(p.view.Time(l.Time.Time)), say(l.What), say(files), goes, safety}
	}))
	if len(all) == 0 && p.view.Layout == render.Aligned {
		p.line(plain("Nothing to undo and nothing to redo in this worktree."))
	}
}

// nextUndoRedo tells what another undo and a redo would do now.
func (p *page) nextUndoRedo(r *rollback.Answer) {
	if next := r.NextUndo; next != nil {
		does := "takes back "
		if !next.Stays && next.To != "" {
			does = "goes on to " + next.Goes.String() + ", before "
		}
		said := " git checkpoint undo " + does + when(!next.Landing, "the ") + next.Said
		p.line(render.Span{Role: render.Hint, Text: "Undo:"}, plain(said))
	}
	if next := r.NextRedo; next != nil {
		does := "does it again: " + next.Said
		if !next.Stays && next.To != "" {
			does = "goes to " + next.Goes.String()
		}
		p.line(render.Span{Role: render.Hint, Text: "Redo:"}, plain(" git checkpoint redo "+does))
	}
}

// warnMeanwhile warns about events of other worktrees since then, which an undo may affect. It comes
// first in a plan.
func (p *page) warnMeanwhile(events []rollback.Meanwhile) {
	p.section("Since then, in other worktrees", []render.Column{{}, {}, {Min: 20}}, gather.List(events, func(m rollback.Meanwhile) []render.Cell {
		return []render.Cell{cell(render.Warning, "worktree "+m.Worktree), say(p.view.Time(m.Time.Time)), say(cmp.Or(when(p.view.Verbose, m.What), m.Said))}
	}))
}
