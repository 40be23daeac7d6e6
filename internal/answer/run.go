package answer

import (
	"fmt"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/render"
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
