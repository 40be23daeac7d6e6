package answer

import (
	"fmt"
	"io"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/render"
	"git-checkpoint/internal/run"
)

// Ran is what run answers.
type Ran struct{ Step *run.Answer }

// JSON writes one object.
func (a Ran) JSON(w io.Writer) error {
	s := *a.Step
	if s.Restored != nil {
		r := tidied(s.Restored)
		s.Restored = &r
	}
	return render.JSON(w, s)
}

// Text writes the checkpoint that was made, why there is none, and what was restored.
func (a Ran) Text(w io.Writer, v render.View) error {
	p, s := &page{w: w, view: v}, a.Step
	switch {
	case s.Tries == 0:
		p.line(plain("Would run: "), render.Span{Role: render.ID, Text: stepName(s)}, plain(after(s.LastGood)))
	case s.Created != nil:
		return Created{s.Created}.Text(w, v)
	case s.Code == 0 && s.Problem != "":
		p.line(plain("No checkpoint: " + s.Problem))
	}
	if s.Restored != nil {
		p.wentTo("Rolled back to", s.Restored)
	}
	return p.err
}

func stepName(s *run.Answer) string {
	return fmt.Sprintf("step %d", s.Step) + spaceBefore(s.StepName)
}

func after(last *checkpoint.Labelled) string {
	if last == nil {
		return ""
	}
	return " after " + last.Label
}
