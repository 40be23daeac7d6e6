package answer

import (
	"io"
	"strings"

	"git-checkpoint/internal/bisect"
	"git-checkpoint/internal/render"
)

// Bisected is what bisect answers.
type Bisected struct{ Found *bisect.Answer }

// JSON writes one object.
func (a Bisected) JSON(w io.Writer) error { return render.JSON(w, a.Found) }

// Text writes which step broke it, what it was about and how to see it.
func (a Bisected) Text(w io.Writer, v render.View) error {
	p, r := &page{w: w, view: v}, a.Found
	switch {
	case r.Broke != nil:
		said := ""
		if subject, _, _ := strings.Cut(r.Broke.Message, "\n"); subject != "" {
			said = ": " + subject
		}
		p.line(render.Span{Role: render.ID, Text: r.Broke.Label}, plain(" broke it"+said))
		if r.Good == nil {
			p.line(plain("It is the oldest that was looked at, so it may never have been good."))
		}
	default:
		var labels []string
		for _, s := range r.Suspects {
			labels = append(labels, s.Label)
		}
		p.line(plain("One of these broke it; the others between were skipped: " + p.enumeration(labels)))
	}
	p.line(plain(render.Count(len(r.Runs), "run", "runs") + " over " + render.Count(r.Steps, "checkpoint", "checkpoints")))
	if r.Diff != "" {
		p.line(render.Span{Role: render.Hint, Text: "See:"}, plain(" "+r.Diff))
	}
	return p.err
}
