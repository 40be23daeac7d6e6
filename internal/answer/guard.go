package answer

import (
	"fmt"
	"io"
	"strings"

	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/render"
)

// Guarded is the answer of guard and guard check.
type Guarded struct{ Found *clearance.Answer }

// JSON writes a line for each secret.
func (a Guarded) JSON(w io.Writer) error { return jsonLines(w, a.Found.Secrets) }

// text writes a table of the secrets found. Without any, a person sees how much was searched, and a
// program gets nothing.
func (a Guarded) text(p *page) {
	if len(a.Found.Secrets) == 0 {
		if p.view.Layout == render.Aligned {
			p.line(render.Span{Text: fmt.Sprintf("No secrets in %s.", render.Count(a.Found.Looked, "object", "objects"))})
		}
		return
	}
	columns := []render.Column{{Title: "Where", Min: 12}, {Title: "Looks like", Min: 10}, {Title: "Rule"}, {Title: "Checkpoint"}, {Title: "Allowed", Min: 8}}
	p.table(columns, each(a.Found.Secrets, func(s clearance.Secret) []render.Cell {
		// A secret may also be in a commit message, which has no path.
		where := string(s.Path)
		if where == "" {
			where = "message of " + s.Blob.Short()
		}
		if s.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, s.Line)
		}
		return []render.Cell{
			say(where), say(s.What), cell(render.ID, s.Rule),
			say(s.Checkpoint), cell(render.Dim, s.Allowed),
		}
	}))
}

// Allowed is the answer of guard allow.
type Allowed struct{ Done *clearance.Allowance }

// JSON writes a line for each secret that is now allowed.
func (a Allowed) JSON(w io.Writer) error {
	return Guarded{&clearance.Answer{Secrets: a.Done.Allowed}}.JSON(w)
}

// text names the rules and the setting that was changed.
func (a Allowed) text(p *page) {
	rules := each(a.Done.Allowed, func(s clearance.Secret) string { return s.Rule })
	p.done("Allowed: "+strings.Join(rules, ", ")+" ("+a.Done.Key+" in the "+string(a.Done.Scope)+" configuration)", "")
}

// Rules is the answer of guard --rules.
type Rules []clearance.Rule

// JSON writes a line for each rule.
func (a Rules) JSON(w io.Writer) error { return jsonLines(w, a) }

// text writes the table of rules.
func (a Rules) text(p *page) {
	columns := []render.Column{{Title: "Rule"}, {Title: "Looks like", Min: 10}, {Title: "Described by", Min: 10}}
	p.table(columns, each(a, func(r clearance.Rule) []render.Cell {
		return []render.Cell{cell(render.ID, r.ID), say(r.What), cell(render.Dim, r.Source)}
	}))
}
