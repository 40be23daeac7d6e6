package answer

import (
	"io"

	"git-checkpoint/internal/render"
	"git-checkpoint/internal/repair"
)

// Ailment is one finding of doctor.
type Ailment repair.Ailment

// JSON writes one line.
func (a Ailment) JSON(w io.Writer) error { return jsonLine(w, (*repair.Ailment)(&a)) }

// text writes a finding with a mark for its level, and its remedy unless it was fixed.
func (a Ailment) text(p *page) {
	mark := render.Span{Role: render.Error, Text: "✗ "}
	switch {
	case a.Fixed:
		mark = render.Span{Role: render.Success, Text: "✓ "}
	case a.Level == repair.LevelAdvice:
		mark = render.Span{Role: render.Warning, Text: "! "}
	case a.Level == repair.LevelInfo:
		mark = dim("  ")
	}
	line := []render.Span{mark, plain(a.Kind + ": "), {Role: render.ID, Text: a.Object}, plain(": " + a.Message)}
	if a.Fixed {
		line = append(line, plain("; "+a.Done))
	}
	p.line(line...)
	if !a.Fixed {
		p.hint(a.Hint)
	}
}
