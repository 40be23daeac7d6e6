package answer

import (
	"io"

	"git-checkpoint/internal/render"
	"git-checkpoint/internal/repair"
)

// Ailment is one line of what doctor answers.
type Ailment repair.Ailment

// JSON writes a line.
func (a Ailment) JSON(w io.Writer) error { return render.JSON(w, repair.Ailment(a)) }

// Text writes what is wrong and its remedy, or that it was mended.
func (a Ailment) Text(w io.Writer, v render.View) error {
	p := &page{w: w, view: v}
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
	if a.Hint != "" && !a.Fixed {
		p.line(plain("    "), render.Span{Role: render.Hint, Text: "hint:"}, plain(" "+a.Hint))
	}
	return p.err
}
