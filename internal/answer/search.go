package answer

import (
	"io"

	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/inspect"
)

// Search is the answer of search.
type Search []inspect.Found

// JSON writes one list.
func (a Search) JSON(w io.Writer) error {
	if a == nil {
		a = Search{}
	}
	return jsonLine(w, &a)
}

// text writes a line for each text that was found.
func (a Search) text(p *page) {
	p.table([]render.Column{{}, {}, {Min: 40}}, each(a, func(f inspect.Found) []render.Cell {
		return []render.Cell{cell(render.ID, f.Ref), cell(render.Dim, f.Where), say(f.Text)}
	}))
}
