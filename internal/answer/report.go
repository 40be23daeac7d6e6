package answer

import (
	"io"

	"git-checkpoint/internal/verb/report"
)

// Report is the answer of report.
type Report struct {
	*report.Answer
	Page bool // as HTML, not as Markdown
}

// JSON writes one object.
func (a Report) JSON(w io.Writer) error { return jsonLine(w, a.Answer) }

// text writes the report as it is, because it is meant for other programs and has no control
// characters.
func (a Report) text(p *page) {
	text := a.Markdown()
	if a.Page {
		text = a.HTML()
	}
	if p.err == nil {
		_, p.err = io.WriteString(p.w, text)
	}
}
