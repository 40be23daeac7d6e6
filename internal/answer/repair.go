package answer

import (
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/verb/repair"
)

// Validated is one line in the answer of validate, about a checkpoint or a session.
type Validated repair.Validated

// text writes the checkpoint, and below it what is wrong with it. An intact one takes one line.
func (a Validated) text(p *page) {
	if a.OK && len(a.Findings) == 0 && p.view.Layout == render.Aligned {
		return // people see what is wrong, and the sum
	}
	subject := subjectOf(a.Session, a.Checkpoint, p.short(a.Label))
	line := []render.Span{tick(a.OK), {Role: render.ID, Text: subject}}
	if !a.OK && a.Checkpoint != "" { // labels repeat, so a damaged checkpoint is named by its id as well
		line = append(line, dim(" "+string(a.Checkpoint)))
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

// tick is the mark in front of what is right, or not.
func tick(ok bool) render.Span {
	if ok {
		return render.Span{Role: render.Success, Text: "✓ "}
	}
	return render.Span{Role: render.Error, Text: "✗ "}
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
		hint := "`git checkpoint rollback " + string(a.LastValid) + "` goes back to it"
		if a.StandIn == "" { // otherwise it was rebuilt already
			hint += ", `git checkpoint rebuild " + string(a.Checkpoint) + "` restores what can be proven"
		}
		p.hint(hint)
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

// shows has nothing, because the lines before have all of it.
func (a Validation) shows() any { return []Validated{} }

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

// Rebuilt is one line in the answer of rebuild, about a checkpoint or a session.
type Rebuilt repair.Rebuilt

// text writes what was repaired, what replaces the checkpoint if it could not be, and what is still
// damaged.
func (a Rebuilt) text(p *page) {
	subject := subjectOf(a.Session, a.Checkpoint, p.short(a.Label))
	p.line(tick(a.OK), render.Span{Role: render.ID, Text: subject})
	for _, m := range a.Mended {
		p.line(plain("  " + m.Message))
	}
	if a.RebuiltFrom != "" {
		p.line(plain("  rebuilt as "), render.Span{Role: render.ID, Text: string(a.Rebuilt)})
	}
	if len(a.Missing) > 0 {
		p.line(plain("  without " + strings.Join(a.Missing, ", ")))
	}
	moved := false // what its ref leads to can still be read
	for _, f := range a.Left {
		p.finding("  still ", f)
		// A checkpoint that was replaced gets one hint, below, and not one for each finding.
		if a.Rebuilt == "" || f.Kind == proof.RefMoved {
			p.hint(f.Hint)
		}
		moved = moved || f.Kind == proof.RefMoved
	}
	if a.Rebuilt != "" && len(a.Left) > 0 && !moved {
		p.hint("`git checkpoint delete " + string(a.Checkpoint) + "` removes the broken one; " + string(a.Rebuilt) + " replaces it")
	}
}

// Rewritten is the question whether to adopt checkpoints that a tool rewrote with the history.
type Rewritten struct {
	Checkpoints []repair.Rewritten `json:"rewritten"`
}

// text names each checkpoint, and how it differs from what it says of itself.
func (a Rewritten) text(p *page) {
	for _, c := range a.Checkpoints {
		p.line(plain("Rewritten  "), render.Span{Role: render.ID, Text: p.short(c.Label)}, plain(" in session "+string(c.Session)+": it was "+c.Commit.Short()+", which is gone, and is "+c.Rewritten.Short()+" now"))
		for _, d := range c.Differs {
			p.line(plain("  " + d))
		}
		if len(c.Differs) == 0 {
			p.line(plain("  it is what its message and its record say"))
		}
	}
	p.line(plain("Adopt what is there now only if you rewrote the history, or know who did."))
}

// Problem is one finding of doctor.
type Problem repair.Problem

// text writes a finding with a mark for its level, and its remedy unless it was fixed.
func (a Problem) text(p *page) {
	mark := tick(a.Fixed)
	switch {
	case a.Fixed:
	case a.Level == repair.LevelAdvice:
		mark = render.Span{Role: render.Warning, Text: "! "}
	case a.Level == repair.LevelInfo:
		mark = dim("  ")
	}
	line := []render.Span{mark, plain(a.Kind + ": "), {Role: render.ID, Text: a.Object}, plain(when(a.Object != "", ": ") + a.Message)}
	if a.Fixed {
		line = append(line, plain("; "+a.Done))
	}
	p.line(line...)
	if !a.Fixed {
		p.hint(a.Hint)
	}
}
