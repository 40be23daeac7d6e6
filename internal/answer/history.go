package answer

import (
	"cmp"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/repair"
)

// Audit is the answer of history: the events of a session's journal, oldest first.
type Audit []inspect.HistoryLine

// text writes the table of events, with --verbose with ids and persons.
func (a Audit) text(p *page) {
	if !p.view.Verbose {
		columns := []render.Column{{Title: "Age"}, {Title: "Event"}, {Title: "What", Min: 20}, {Title: "Reason", Min: 8}, {Title: "Next"}}
		if p.view.Layout == render.Tabbed {
			columns[0].Title = "Time"
		}
		p.table(columns, gather.List(a, func(e inspect.HistoryLine) []render.Cell {
			return []render.Cell{say(p.view.Age(e.Time.Time)), say(happened(e)), say(e.What), say(cmp.Or(e.Reason, e.Status)), cell(render.Hint, e.Next)}
		}))
		return
	}
	// An event names only its own checkpoint by label, so collect the labels from all events.
	labels := map[name.ID]string{}
	for _, e := range a {
		if e.Label != "" {
			labels[e.Checkpoint] = e.Label
		}
	}
	called := p.labelled(labels)
	columns := []render.Column{{Title: "Time"}, {Title: "Event"}, {Title: "Checkpoint"}, {Title: "Actor", Min: 8}, {Title: "Reason", Min: 12}, {Title: "Commit"}}
	p.table(columns, gather.List(a, func(e inspect.HistoryLine) []render.Cell {
		return []render.Cell{
			say(p.view.Time(e.Time.Time)), say(happened(e)), cell(render.ID, subject(e, called)),
			say(p.person(e.Actor)), say(cmp.Or(e.Reason, e.Status)), cell(render.Dim, p.view.OID(e.OID)),
		}
	}))
}

// happened names an event for people. A landing is written like a rollback.
func happened(e inspect.HistoryLine) string {
	if e.Mode == checkpoint.ModeLand && e.Event == string(journal.KindRollback) {
		return checkpoint.ModeLand
	}
	return e.Event
}

// labelled returns a function that names checkpoints: by label for people, by id for programs, since
// labels repeat after a rollback.
func (p *page) labelled(labels map[name.ID]string) func(name.ID) string {
	return func(id name.ID) string {
		if label := labels[id]; label != "" && (p.view.Layout == render.Aligned || !p.view.Verbose) {
			return label
		}
		return string(id)
	}
}

// person removes the email address from "Name <email>" for people.
func (p *page) person(actor string) string {
	if person, _, found := strings.Cut(actor, " <"); found && p.view.Layout == render.Aligned {
		return person
	}
	return actor
}

// subject returns the checkpoints that an event is about: one, from and to, or those that were
// pruned.
func subject(e inspect.HistoryLine, called func(name.ID) string) string {
	switch {
	case e.To != "" && e.From != "":
		return called(e.From) + " → " + called(e.To)
	case e.To != "":
		return "→ " + called(e.To)
	case e.Checkpoint != "":
		return called(e.Checkpoint)
	}
	// A prune names all checkpoints that it removed. Other events without a checkpoint give an
	// empty text.
	return strings.Join(gather.List(e.Pruned, called), ", ")
}

// Verified is the answer of history --verify.
type Verified struct{ Proof *repair.Verified }

// text tells whether the chain of events is intact, and otherwise where it breaks first.
func (a Verified) text(p *page) {
	r := a.Proof
	if r.OK {
		since := when(r.Since != "", ", and contains "+string(r.Since))
		p.done("The journal of "+string(r.Session)+" is intact: "+render.Count(r.Events, "event", "events")+since, "")
		p.line(plain("  tip "), render.Span{Role: render.ID, Text: string(r.Tip)})
		return
	}
	p.line(render.Span{Role: render.Error, Text: "✗ "}, plain("The journal of "+string(r.Session)+" is broken"))
	p.finding("  ", *r.Break)
	p.hint(r.Break.Hint)
}

// Search is the answer of search.
type Search []inspect.Found

// shows has one list, on one line.
func (a Search) shows() any { return &a }

// text writes a line for each text that was found.
func (a Search) text(p *page) {
	p.table([]render.Column{{}, {}, {Min: 40}}, gather.List(a, func(f inspect.Found) []render.Cell {
		return []render.Cell{cell(render.ID, f.Ref), cell(render.Dim, f.Where), say(f.Text)}
	}))
}
