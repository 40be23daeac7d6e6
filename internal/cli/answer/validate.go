package answer

import (
	"io"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/render"
	"git-checkpoint/internal/repair"
)

// Validated is one line in the answer of validate, about a checkpoint or a session.
type Validated repair.Validated

// JSON writes a line.
func (a Validated) JSON(w io.Writer) error { return jsonLine(w, (*repair.Validated)(&a)) }

// text writes the checkpoint, and below it what is wrong with it. An intact one takes one line.
func (a Validated) text(p *page) {
	subject := subjectOf(a.Session, a.Checkpoint, a.Label)
	line := []render.Span{{Role: render.Success, Text: "✓ "}, {Role: render.ID, Text: subject}}
	if !a.OK {
		line[0] = render.Span{Role: render.Error, Text: "✗ "}
		// Labels repeat, so a damaged checkpoint is named by its id as well.
		if a.Checkpoint != "" {
			line = append(line, dim(" "+string(a.Checkpoint)))
		}
	}
	if s := a.Signature; s != nil {
		line = append(line, plain(" signed by "+s.Signer+" ("+s.Status+")"))
	}
	p.line(line...)
	for _, f := range a.Findings {
		p.finding("  ", f)
		p.hint(f.Hint)
	}
	if !a.OK && a.Checkpoint != "" {
		p.fate(a)
	}
}

// finding writes what is wrong with an object.
func (p *page) finding(words string, f checkpoint.Finding) {
	p.line(plain(words), render.Span{Role: render.Error, Text: string(f.Kind)}, plain(": "+f.Message), dim(" ("+f.Object+")"))
}

// hint writes what to do about the finding before, if there is a hint.
func (p *page) hint(text string) {
	if text == "" {
		return
	}
	p.line(plain("    "), render.Span{Role: render.Hint, Text: "hint:"}, plain(" "+text))
}

// fate tells whether a damaged checkpoint can still be restored, and otherwise the last valid one
// before it.
func (p *page) fate(a Validated) {
	switch {
	case a.Restorable:
		p.line(plain("  its files and state can still be restored"))
	case a.LastValid != "":
		p.line(plain("  it cannot be restored; the last valid one is "), render.Span{Role: render.ID, Text: string(a.LastValid)})
		p.hint("`git checkpoint rollback " + string(a.LastValid) + "` goes back to it, `git checkpoint rebuild " + string(a.Checkpoint) + "` restores what can be proven")
	default:
		p.line(plain("  it cannot be restored, and none before it is valid"))
	}
}

// Validation sums up a validation: the number of checkpoints, of damaged ones, and of findings
// about sessions.
type Validation struct{ Checkpoints, Damaged, Sessions int }

// Count adds one line. A line without a checkpoint is about a session, and is only there if
// something is wrong.
func (a *Validation) Count(line repair.Validated) {
	if line.Checkpoint == "" {
		a.Sessions++
		return
	}
	a.Checkpoints++
	if !line.OK {
		a.Damaged++
	}
}

// Sound reports whether nothing is damaged.
func (a Validation) Sound() bool { return a.Damaged+a.Sessions == 0 }

// JSON writes nothing, because the lines before have all of it.
func (a Validation) JSON(io.Writer) error { return nil }

// text writes the totals.
func (a Validation) text(p *page) {
	switch {
	case a.Sound() && a.Checkpoints == 0:
		p.line(plain("Nothing to validate"))
	case a.Sound():
		p.line(plain(render.Count(a.Checkpoints, "checkpoint is valid", "checkpoints are valid")))
	default:
		text := render.Count(a.Checkpoints, "checkpoint", "checkpoints") + " checked, " + render.Count(a.Damaged, "damaged", "damaged")
		p.line(plain(text + when(a.Sessions > 0, "; findings about "+render.Count(a.Sessions, "session", "sessions"))))
	}
}

// subjectOf names what a line is about: a checkpoint by its label or else its id, or the session.
func subjectOf(session name.Session, checkpoint name.ID, label string) string {
	switch {
	case checkpoint == "":
		return "session " + string(session)
	case label == "":
		return string(checkpoint)
	}
	return label
}
