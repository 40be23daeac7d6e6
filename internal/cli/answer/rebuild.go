package answer

import (
	"io"
	"strings"

	"git-checkpoint/internal/render"
	"git-checkpoint/internal/repair"
)

// Rebuilt is one line in the answer of rebuild, about a checkpoint or a session.
type Rebuilt repair.Rebuilt

// JSON writes a line.
func (a Rebuilt) JSON(w io.Writer) error { return jsonLine(w, (*repair.Rebuilt)(&a)) }

// text writes what was repaired, what replaces the checkpoint if it could not be, and what is still
// damaged.
func (a Rebuilt) text(p *page) {
	subject := subjectOf(a.Session, a.Checkpoint, a.Label)
	mark := render.Span{Role: render.Success, Text: "✓ "}
	if !a.OK {
		mark = render.Span{Role: render.Error, Text: "✗ "}
	}
	p.line(mark, render.Span{Role: render.ID, Text: subject})
	for _, m := range a.Mended {
		p.line(plain("  " + m.Message))
	}
	if a.RebuiltFrom != "" {
		p.line(plain("  rebuilt as "), render.Span{Role: render.ID, Text: string(a.Rebuilt)})
	}
	if len(a.Missing) > 0 {
		p.line(plain("  without " + strings.Join(a.Missing, ", ")))
	}
	for _, f := range a.Left {
		p.finding("  still ", f)
		// A checkpoint that was replaced gets one hint, below, and not one for each finding.
		if a.Rebuilt == "" {
			p.hint(f.Hint)
		}
	}
	if a.Rebuilt != "" && len(a.Left) > 0 {
		p.hint("`git checkpoint delete " + string(a.Checkpoint) + "` removes the broken one; " + string(a.Rebuilt) + " replaces it")
	}
}
