package answer

import (
	"fmt"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/bisect"
	"git-checkpoint/internal/verb/run"
)

// Ran is the answer of run.
type Ran struct{ Step *run.Answer }

// text writes the checkpoint that the step made, or why there is none, and what was restored after
// a failure.
func (a Ran) text(p *page) {
	s := a.Step
	switch {
	// Nothing was run: this is a dry run.
	case s.Tries == 0:
		after := ""
		if s.LastGood != nil {
			after = " after " + s.LastGood.Mention.String()
		}
		step := fmt.Sprintf("step %d", s.Step) + spaceBefore(s.StepName)
		p.line(plain("Would run: "), render.Span{Role: render.ID, Text: step}, plain(after))
	case s.Created != nil && s.Cut == workflow.TriggerSessionEnd: // its time was up
		p.line(append(append([]render.Span{{Role: render.Warning, Text: "!"}, plain(" Stopped; what is there is saved as ")}, mention(checkpoint.MentionOf(s.Created.Record))...), plain(": "+holds(s.Created)))...)
		return
	case s.Created != nil:
		Created{Detail: s.Created}.text(p)
		return
	case s.Code == 0 && s.Problem != "":
		p.line(plain("No checkpoint: " + s.Problem))
	}
	if s.Restored != nil {
		p.wentTo("Rolled back to", s.Restored)
	}
}

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
