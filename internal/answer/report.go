package answer

import (
	"fmt"
	"io"

	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/report"
)

// Report is the answer of report.
type Report struct {
	*report.Answer
	Page bool // as HTML, not as Markdown
}

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

// Verdict is the answer of report --check.
type Verdict struct{ *report.Verdict }

// text writes the numbers, the conditions that do not hold, and the lines that these count.
func (a Verdict) text(p *page) {
	p.line(plain(a.Words()))
	for _, c := range a.Checks {
		if !c.Holds {
			p.line(render.Span{Role: render.Error, Text: "does not hold: " + c.Check})
		}
	}
	for _, l := range a.Named {
		p.line(render.Span{Role: render.ID, Text: fmt.Sprintf("%s:%d", l.Path, l.Line)}, plain("  "+l.Answer+when(l.Because != "", ": "+l.Because)), dim("  in "+p.view.OID(l.Commit)))
	}
	if a.More > 0 {
		p.line(plain(fmt.Sprintf("… and %d more lines", a.More)))
	}
}
