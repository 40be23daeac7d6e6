package answer

import (
	"io"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/render"
	"git-checkpoint/internal/retain"
)

// Deleted is what delete and session delete answer.
type Deleted struct{ Removed *retain.Removed }

// JSON writes one object.
func (a Deleted) JSON(w io.Writer) error {
	r := *a.Removed
	r.Removed = all(r.Removed)
	return render.JSON(w, r)
}

// Text names what went and what that frees.
func (a Deleted) Text(w io.Writer, v render.View) error {
	p, r := &page{w: w, view: v}, a.Removed
	p.line(render.Span{Role: render.Success, Text: "✓"},
		plain(" Deleted: "+render.Count(len(r.Removed), "checkpoint", "checkpoints")+", "+render.Size(r.Bytes)+" to be freed by git gc"))
	p.removed(r.Removed)
	return p.err
}

// ToDelete is what would go.
type ToDelete struct{ Removed *retain.Removed }

// JSON writes one object.
func (a ToDelete) JSON(w io.Writer) error { return Deleted(a).JSON(w) }

// Text names what would go and what that would free.
func (a ToDelete) Text(w io.Writer, v render.View) error {
	p, r := &page{w: w, view: v}, a.Removed
	p.line(plain("Would delete " + render.Count(len(r.Removed), "checkpoint", "checkpoints") + ", " + render.Size(r.Bytes)))
	p.removed(r.Removed)
	return p.err
}

// RefsToDelete is what deinit would take out of the repository.
type RefsToDelete struct{ Removed *retain.Removed }

// JSON writes one object.
func (a RefsToDelete) JSON(w io.Writer) error { return Deleted(a).JSON(w) }

// Text names the refs.
func (a RefsToDelete) Text(w io.Writer, v render.View) error {
	p := &page{w: w, view: v}
	p.line(plain("Would delete all sessions: " + render.Count(len(a.Removed.Removed), "ref", "refs")))
	p.removed(a.Removed.Removed)
	return p.err
}

func (p *page) removed(gone []checkpoint.Labelled) {
	var rows [][]render.Cell
	for _, c := range gone {
		rows = append(rows, []render.Cell{cell(render.ID, c.Label), cell(render.Dim, string(c.ID))})
	}
	rows, more := cut(p, rows, listed)
	p.table(render.Table{Columns: []render.Column{{}, {Min: 20}}, Rows: rows})
	if more > 0 {
		p.line(dim("… and " + render.Count(more, "more", "more")))
	}
}
