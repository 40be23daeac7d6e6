package answer

import (
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/inspect"
)

// Search is the answer of search.
type Search []inspect.Found

// shows has one list, on one line.
func (a Search) shows() any { return &a }

// text writes a line for each text that was found.
func (a Search) text(p *page) {
	p.table([]render.Column{{}, {}, {Min: 40}}, gather.List(a, func(f inspect.Found) []render.Cell {
		return []render.Cell{cell(render.ID, f.Ref), cell(render.Dim, f.Where), say(f.Text)}
	}))
}
