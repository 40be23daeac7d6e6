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
func (a Deleted) JSON(w io.Writer) error { return jsonLine(w, a.Removed) }

// text lists what was deleted and how much space git gc can free.
func (a Deleted) text(p *page) {
	r := a.Removed
	p.done("Deleted: "+render.Count(len(r.Removed), "checkpoint", "checkpoints")+", "+render.Size(r.Bytes)+" to be freed by git gc", "")
	p.removed(r.Removed)
}

// ToDelete is the plan of delete and session delete.
type ToDelete struct{ Removed *retain.Removed }

// JSON writes one object.
func (a ToDelete) JSON(w io.Writer) error { return Deleted(a).JSON(w) }

// text lists what would be deleted and how much space that would free.
func (a ToDelete) text(p *page) {
	r := a.Removed
	p.line(plain("Would delete " + render.Count(len(r.Removed), "checkpoint", "checkpoints") + ", " + render.Size(r.Bytes)))
	p.removed(r.Removed)
}

// RefsToDelete is the plan of deinit: the refs that it would remove from the repository.
type RefsToDelete struct{ Removed *retain.Removed }

// JSON writes one object.
func (a RefsToDelete) JSON(w io.Writer) error { return Deleted(a).JSON(w) }

// text lists the refs.
func (a RefsToDelete) text(p *page) {
	p.line(plain("Would delete all sessions: " + render.Count(len(a.Removed.Removed), "ref", "refs")))
	p.removed(a.Removed.Removed)
}

// removed lists checkpoints, shortened for people.
func (p *page) removed(gone []checkpoint.Labelled) {
	rows := each(gone, func(c checkpoint.Labelled) []render.Cell {
		return []render.Cell{cell(render.ID, c.Label), cell(render.Dim, string(c.ID))}
	})
	p.beginning([]render.Column{{}, {Min: 20}}, rows, listed)
}
