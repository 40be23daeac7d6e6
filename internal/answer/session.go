package answer

import (
	"cmp"
	"strconv"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/session"
)

// Session is the answer of session show, which is the session's manifest.
type Session struct{ Manifest *session.Manifest }

// text writes the facts about the session, its checkpoints and its rollbacks.
func (a Session) text(p *page) {
	m := a.Manifest
	p.fields(
		field{"Session", say(string(m.Session))},
		field{"Workflow", say(m.Workflow)},
		field{"Topic", say(m.Topic)},
		field{"Status", say(m.Status)},
		field{"Branch", say(when(m.Branch != "", branchName(m.Branch)))},
		field{"Created", say(p.view.Time(m.CreatedAt.Time))},
		field{"Updated", say(p.view.Time(m.UpdatedAt.Time))},
	)
	labels := map[name.ID]string{} // the rollback events have ids only
	p.section("Checkpoints", []render.Column{{}, {}, {}, {Min: 12}}, gather.List(m.Checkpoints, func(c session.ManifestEntry) []render.Cell {
		labels[c.ID] = c.Label
		last := cell(render.Dim, string(c.ID))
		if !p.view.Verbose {
			labels[c.ID], last = cmp.Or(c.Called, c.Label), say(c.Message)
		}
		return []render.Cell{
			cell(render.ID, labels[c.ID]), say(p.view.Time(c.Timestamp.Time)),
			spaced(marks{current: c.ID == m.CurrentCheckpoint, discarded: c.Discarded, invalid: !c.Valid, pinned: c.Pinned}.spans(p.view.Layout)), last,
		}
	}))
	called := p.labelled(labels)
	p.section("Rollbacks", []render.Column{{}, {}, {Min: 12}}, gather.List(m.RollbackHistory, func(r session.RollbackRecord) []render.Cell {
		return []render.Cell{say(p.view.Time(r.Time.Time)), say(called(r.From) + " → " + called(r.To)), say(r.Reason)}
	}))
}

// marksOf returns the marks of a session in a list. A name with the digits of a clone has its branch beside it.
func marksOf(m session.Manifest) (spans []render.Span) {
	if m.Active {
		spans = append(spans, render.Span{Role: render.Success, Text: "active"})
	}
	branch := m.Branch.Short()
	if checkpoint.IsOfClone(m.Session, name.SessionFromBranch(branch)) {
		spans = append(spans, render.Span{Role: render.Dim, Text: "of " + branch})
	}
	return spans
}

// Sessions is the answer of session list.
type Sessions []session.Manifest

// text writes a table. A person does not see sessions without checkpoints, except the active one.
func (a Sessions) text(p *page) {
	t := render.Table{Columns: []render.Column{
		{Title: "Session"}, {Title: "Status"}, {Title: "Checkpoints", Align: render.Right},
		{Title: "Updated"}, {Title: "Workflow"}, {Title: "Topic", Min: 12}, {Title: "Marks"},
	}}
	empty := 0
	for _, m := range a {
		if p.view.Layout == render.Aligned && len(m.Checkpoints) == 0 && !m.Active {
			empty++
			continue
		}
		t.Rows = append(t.Rows, []render.Cell{
			cell(render.ID, string(m.Session)), say(m.Status),
			say(strconv.Itoa(len(m.Checkpoints))), say(p.view.Time(m.UpdatedAt.Time)),
			say(m.Workflow), say(m.Topic), spaced(marksOf(m)),
		})
	}
	p.table(t.Columns, t.Rows)
	switch {
	case p.view.Layout == render.Tabbed:
	case len(a) == 0:
		p.line(plain("No sessions yet: git checkpoint save starts one."))
	case empty > 0:
		p.line(dim(render.Count(empty, "session", "sessions") + " without checkpoints not shown"))
	}
}

// ofBranch says the branch of a new session whose name has the digits of the clone.
func ofBranch(d *checkpoint.Detail) string {
	branch := name.Ref(d.Record.Git.Branch).Short()
	return when(checkpoint.IsOfClone(d.Record.Session, name.SessionFromBranch(branch)), " of "+branch)
}
