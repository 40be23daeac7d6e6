package answer

import (
	"fmt"

	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/inspect"
)

// Workflows is the answer of workflow list.
type Workflows []inspect.WorkflowInfo

// text writes a table. For an invalid workflow it shows the first problem.
func (a Workflows) text(p *page) {
	columns := []render.Column{{Title: "Workflow"}, {Title: "Version"}, {Title: "Title", Min: 12}, {Title: "From", Min: 8}}
	p.table(columns, gather.List(a, func(info inspect.WorkflowInfo) []render.Cell {
		title := say(info.Title)
		if !info.OK {
			title = cell(render.Error, "broken: "+info.Problems[0].String())
		}
		return []render.Cell{cell(render.ID, info.Name), say(info.Version), title, cell(render.Dim, info.Origin)}
	}))
}

// Checked is the answer of workflow check.
type Checked struct{ Workflow inspect.WorkflowInfo }

// text confirms a valid workflow, or writes a line for each problem in the form of a compiler:
// file:line: message.
func (a Checked) text(p *page) {
	info := a.Workflow
	if info.OK {
		p.done("Workflow "+info.Name+" "+info.Version+" is fine", "")
	}
	for _, problem := range info.Problems {
		p.line(plain(fmt.Sprintf("%s:%d: %s", info.Origin, problem.Line, problem)))
	}
}
