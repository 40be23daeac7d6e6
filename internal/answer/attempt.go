package answer

// This file has the answers about attempts. An attempt is a fork of a checkpoint into a linked
// worktree with a session of its own: fork makes one, compare shows several side by side, and
// promote takes the files of one over.

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/attempt"
	"git-checkpoint/internal/verb/rollback"
)

// Forked is the answer of fork.
type Forked struct{ Made []attempt.Attempt }

// text writes where each attempt is, how the command ended that was run in each, and what to do
// next.
func (a Forked) text(p *page) {
	for _, made := range a.Made {
		p.done("Forked "+made.Origin.String()+" as "+made.Name+": "+made.Worktree+", session "+string(made.Session), "")
	}
	ran := false
	for _, made := range a.Made {
		if r := made.Run; r != nil {
			ran = true
			p.line(plain(made.Name+": "), render.Span{Role: roleOf(r.Code), Text: p.endOf(r)})
		}
	}
	if len(a.Made) > 0 {
		next := "git checkpoint compare"
		if !ran {
			next = "cd " + name.Quoted(a.Made[0].Worktree)
		}
		p.line(render.Span{Role: render.Hint, Text: "Next:"}, plain(" "+next))
		p.conversations(a.Made)
	}
}

// conversations writes how conversations with an agent continue. A directory is given only if the
// line before has not named it.
func (p *page) conversations(made []attempt.Attempt) {
	for _, m := range made {
		if chat := m.Chat; chat != nil {
			there := *chat
			there.Elsewhere = len(made) > 1 || m.Run != nil
			p.goOn(&there)
		}
	}
}

// roleOf returns the role of an exit code.
func roleOf(code int) render.Role {
	if code == 0 {
		return render.Success
	}
	return render.Error
}

// endOf describes how a command ended, and the checkpoint that it made or why there is none.
func (p *page) endOf(r *attempt.Ran) string {
	text := "succeeded"
	if r.Code != 0 {
		text = fmt.Sprintf("failed with exit code %d", r.Code)
	}
	switch {
	case r.Label != "":
		text += ", " + p.short(r.Label)
	case r.Problem != "":
		text += ": " + r.Problem
	}
	return text
}

// Attempts is the answer of fork --list.
type Attempts struct{ All []attempt.Attempt }

// text writes a table.
func (a Attempts) text(p *page) {
	if len(a.All) == 0 && p.view.Layout == render.Aligned {
		p.line(plain("No attempts yet: git checkpoint fork <ref>"))
	}
	columns := []render.Column{
		{Title: "Attempt"}, {Title: "Session", Min: 8}, {Title: "From", Min: 10}, {Title: "Steps", Align: render.Right}, {Title: "Current", Min: 10},
		{Title: "Agent"}, {Title: "Unlanded", Align: render.Right}, {Title: "Back"}, {Title: "Worktree", Min: 12},
	}
	if p.view.Layout == render.Aligned { // first what tells the rows apart
		columns = []render.Column{
			{Title: "Attempt"}, {Title: "Current", Min: 10}, {Title: "Steps", Align: render.Right}, {Title: "Agent"}, {Title: "Unlanded", Align: render.Right}, {Title: "Worktree", Min: 24}, {Title: "From", Min: 8}, {Title: "Session", Min: 8},
		}
	}
	p.table(columns, gather.List(a.All, func(one attempt.Attempt) []render.Cell {
		// A fork that was interrupted has a worktree without a checkpoint. The user can only remove
		// it.
		current, where := "", say(one.Worktree)
		if one.Current != nil {
			current = p.name(*one.Current)
		}
		switch {
		case one.Unfinished:
			where = cell(render.Warning, one.Worktree+" (cut off: git checkpoint fork --remove "+string(one.Session)+")")
		case one.Worktree == "":
			where = cell(render.Dim, "removed")
		case p.view.Layout == render.Aligned:
			where = say(endOfPath(one.Worktree))
		}
		cells := map[string]render.Cell{
			"Attempt": cell(render.ID, one.Name), "Session": say(string(one.Session)), "From": say(p.originOf(one)),
			"Steps": say(strconv.Itoa(one.Steps)), "Current": cell(render.ID, current), "Agent": say(one.Agent),
			"Unlanded": say(when(one.Unlanded > 0, strconv.Itoa(one.Unlanded))), "Back": say(one.Back), "Worktree": where,
		}
		return gather.List(columns, func(c render.Column) render.Cell { return cells[c.Title] })
	}))
	for _, one := range a.All {
		if p.view.Layout == render.Aligned && one.Worktree == "" && one.Back != "" {
			p.line(render.Span{Role: render.Hint, Text: "Bring back " + one.Name + ":"}, plain(" "+one.Back))
		}
	}
}

// endOfPath returns a path, or its end if it is long: worktrees that stand side by side differ there.
func endOfPath(path string) string {
	const most = 36
	runes := []rune(path)
	if len(runes) <= most {
		return path
	}
	return "…" + string(runes[len(runes)-most+1:])
}

// ToInclude lists the files that .worktreeinclude names.
type ToInclude struct{ Files []attempt.IncludedFile }

// text writes a table.
func (a ToInclude) text(p *page) {
	const most = 20
	p.section("Ignored files to copy", []render.Column{{Min: 20}, {Align: render.Right}}, gather.List(a.Files[:min(most, len(a.Files))], func(f attempt.IncludedFile) []render.Cell {
		return []render.Cell{say(f.Path), say(render.Size(f.Size))}
	}))
	if more := len(a.Files) - most; more > 0 {
		p.line(dim(fmt.Sprintf("and %d more", more)))
	}
}

// ToFork is the plan of fork.
type ToFork struct{ Made []attempt.Attempt }

// text writes where each attempt would be.
func (a ToFork) text(p *page) {
	for _, one := range a.Made {
		p.line(plain("Would fork "+one.Origin.String()+" as "), render.Span{Role: render.ID, Text: one.Name}, plain(": "+one.Worktree+", session "+string(one.Session)))
	}
}

// originOf names the checkpoint that an attempt was forked from, with its session.
func (p *page) originOf(a attempt.Attempt) string {
	from := cmp.Or(a.FromLabel, string(a.From))
	if a.Origin.Name != "" {
		from = p.name(checkpoint.Labelled{Label: a.FromLabel, Mention: a.Origin})
	}
	if from != "" {
		return string(a.FromSession) + ":" + from
	}
	return ""
}

// Removal is the plan of fork --remove.
type Removal struct{ Plan *attempt.Removal }

// text writes what is captured before the worktree is removed, and which files are lost because no
// checkpoint has them.
func (a Removal) text(p *page) {
	r := a.Plan
	stays := when(r.Attempt.Session != "", "session "+string(r.Attempt.Session))
	first := "nothing; its newest checkpoint has everything"
	switch {
	case r.Attempt.Unfinished:
		first, stays = "nothing; the fork was cut off before it had a session", ""
	case r.Saves:
		first = "what is there" + when(r.Changed > 0, " ("+render.Count(r.Changed, "file differs", "files differ")+")")
	case len(r.Ignored)+len(r.Lost) > 0:
		first = "nothing; its newest checkpoint has everything but what is listed below"
	}
	p.fields(
		field{"Removes", say(r.Attempt.Worktree)},
		field{savesFirst, say(first)},
		field{"Stays", cell(render.ID, stays)},
	)
	p.paths("Ignored files, which are in no checkpoint and will be lost", render.Removed, r.Ignored)
	p.reasons("What no checkpoint can hold, and will be lost", render.Removed, gather.List(r.Lost, func(l attempt.Lost) [2]string { return [2]string{string(l.Path), l.Reason} }))
}

// RemovedAttempt is the result of fork --remove.
type RemovedAttempt struct{ Done *attempt.Removal }

// text confirms the removal and names the checkpoint that was made before.
func (a RemovedAttempt) text(p *page) {
	p.done("Removed: "+a.Done.Attempt.Worktree, "")
	if a.Done.Kept != "" {
		p.line(plain("What was there is kept in session " + string(a.Done.Attempt.Session) + when(p.view.Verbose, ": "+string(a.Done.Kept))))
	}
}

// SideBySide is the answer of compare.
type SideBySide struct{ Found *attempt.Comparison }

func (a SideBySide) shows() any { return a.Found.Rows }

// text writes a table with one row per attempt and one column per metric. The exit code has a column
// only if a command was run. For people, a status that all have is said above the table.
func (a SideBySide) text(p *page) {
	// The columns for metrics and for the exit code depend on the rows.
	columns := []render.Column{{Title: "Attempt"}, {Title: "Steps", Align: render.Right}, {Title: "Current", Min: 10}, {Title: "Status"}}
	for _, m := range a.Found.Metrics {
		columns = append(columns, render.Column{Title: m, Align: render.Right})
	}
	columns = append(columns, render.Column{Title: "Files", Align: render.Right}, render.Column{Title: "Lines", Align: render.Right})
	if a.Found.Ran() {
		columns = append(columns, render.Column{Title: "Exit code", Align: render.Right})
	}
	columns = append(columns, render.Column{Title: "Age"}, render.Column{Title: "Message", Min: 12})
	rows := gather.List(a.Found.Rows, func(r attempt.Compared) []render.Cell { return a.row(p, r) })
	if p.view.Layout == render.Aligned {
		a.writeHeading(p, rows)
	}
	p.table(columns, rows)
}

// row returns the cells of an attempt. The best value of a metric has an asterisk, for people only:
// programs parse the value.
func (a SideBySide) row(p *page, r attempt.Compared) []render.Cell {
	v := p.view
	row := []render.Cell{cell(render.ID, r.Name), say(strconv.Itoa(r.Steps)), cell(render.ID, p.name(checkpoint.Labelled{Label: r.Label, Mention: checkpoint.Mention{Name: r.Called}})), say(r.Status)}
	for _, m := range a.Found.Metrics {
		value := say(string(r.Metrics[m]))
		if v.Layout == render.Aligned && r.Is(m) {
			value = cell(render.Success, string(r.Metrics[m])+" *")
		}
		row = append(row, value)
	}
	row = append(row, say(strconv.Itoa(r.Files)), say(fmt.Sprintf("+%d -%d", r.Added, r.Deleted)))
	if a.Found.Ran() {
		code := say("")
		if r.Code != nil {
			code = cell(roleOf(*r.Code), strconv.Itoa(*r.Code))
		}
		row = append(row, code)
	}
	return append(row, say(v.Age(r.CreatedAt.Time)), brief(r.Message))
}

// writeHeading writes the lines above the table for people, and takes a status that all rows have
// out of it: an empty column is not shown.
func (a SideBySide) writeHeading(p *page, rows [][]render.Cell) {
	const status = 3 // its column
	if len(rows) == 0 {
		p.line(plain("No attempt makes the expression true."))
		return
	}
	alike := !slices.ContainsFunc(a.Found.Rows, func(r attempt.Compared) bool { return r.Status != a.Found.Rows[0].Status })
	if !alike || len(rows) == 1 {
		return
	}
	if status := a.Found.Rows[0].Status; status != checkpoint.StatusOpen {
		p.line(dim("Status: " + status))
	}
	for _, row := range rows {
		row[status] = nil
	}
}

// Promoted is the result of promote.
type Promoted struct{ Done *rollback.Answer }

// shows has the members of a rollback's answer, and the checkpoint that was created.
func (a Promoted) shows() any {
	return &struct {
		*rollback.Answer
		Created *checkpoint.Detail `json:"created"`
	}{a.Done, a.Done.Created}
}

// text confirms the checkpoint and tells how to undo the promotion.
func (a Promoted) text(p *page) {
	r := a.Done
	p.done("Promoted "+r.Promotes.Attempt+": ", checkpoint.CalledOf(r.Created.Record))
	p.line(plain("Files: " + cmp.Or(amounts(r, "written", "deleted", "changed in mode"), "none changed")))
	p.line(render.Span{Role: render.Hint, Text: "Undo:"}, plain(" git checkpoint undo"))
}
