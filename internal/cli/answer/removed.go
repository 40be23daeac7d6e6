package answer

import (
	"io"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/render"
	"git-checkpoint/internal/retain"
)

// Deleted is the result of delete and session delete.
type Deleted struct{ Removed *retain.Removed }

// JSON writes one object.
func (a Deleted) JSON(w io.Writer) error {
	r := *a.Removed
	r.Removed = all(r.Removed)
	return render.JSON(w, r)
}

// Text lists what was deleted and how much space git gc can free.
func (a Deleted) Text(w io.Writer, v render.View) error {
	p, r := &page{w: w, view: v}, a.Removed
	p.done("Deleted: "+render.Count(len(r.Removed), "checkpoint", "checkpoints")+", "+render.Size(r.Bytes)+" to be freed by git gc", "")
	p.removed(r.Removed)
	return p.err
}

// ToDelete is the plan of delete and session delete.
type ToDelete struct{ Removed *retain.Removed }

// JSON writes one object.
func (a ToDelete) JSON(w io.Writer) error { return Deleted(a).JSON(w) }

// Text lists what would be deleted and how much space that would free.
func (a ToDelete) Text(w io.Writer, v render.View) error {
	p, r := &page{w: w, view: v}, a.Removed
	p.line(plain("Would delete " + render.Count(len(r.Removed), "checkpoint", "checkpoints") + ", " + render.Size(r.Bytes)))
	p.removed(r.Removed)
	return p.err
}

// RefsToDelete is the plan of deinit: the refs that it would remove from the repository.
type RefsToDelete struct{ Removed *retain.Removed }

// JSON writes one object.
func (a RefsToDelete) JSON(w io.Writer) error { return Deleted(a).JSON(w) }

// Text lists the refs.
func (a RefsToDelete) Text(w io.Writer, v render.View) error {
	p := &page{w: w, view: v}
	p.line(plain("Would delete all sessions: " + render.Count(len(a.Removed.Removed), "ref", "refs")))
	p.removed(a.Removed.Removed)
	return p.err
}

// removed lists checkpoints, shortened for people.
func (p *page) removed(gone []checkpoint.Labelled) {
	var rows [][]render.Cell
	for _, c := range gone {
		rows = append(rows, []render.Cell{cell(render.ID, c.Label), cell(render.Dim, string(c.ID))})
	}
	p.beginning(render.Table{Columns: []render.Column{{}, {Min: 20}}, Rows: rows}, listed)
}
