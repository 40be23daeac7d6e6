package answer

import (
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/bisect"
)

// Bisected is the answer of bisect.
type Bisected struct{ Found *bisect.Answer }

// text names the checkpoint that broke it, or those that it may be where some could not be tested,
// and a command that shows the difference.
func (a Bisected) text(p *page) {
	r := a.Found
	switch {
	case r.Broke != nil:
		p.line(append(mention(r.Broke.Mention), plain(" broke it"))...)
		// Every checkpoint that was tested is bad, so nothing proves that this one introduced the
		// fault.
		if r.Good == nil {
			p.line(plain("It is the oldest one that was tested, so it may never have been good."))
		}
	default:
		p.line(plain("One of these broke it, but some of them were skipped: " + p.enumeration(mentionsOf(r.Suspects))))
	}
	p.line(plain(render.Count(len(r.Runs), "run", "runs") + " over " + render.Count(r.Steps, "checkpoint", "checkpoints")))
	if r.See != "" {
		p.line(render.Span{Role: render.Hint, Text: "See:"}, plain(" "+r.See))
	}
}
