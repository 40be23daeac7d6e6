package answer

import (
	"io"
	"strconv"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/render"
)

// Listed is what list answers, a table for each session.
type Listed struct {
	Sessions   []inspect.Listing
	Unfinished *inspect.Unfinished // nil: no rollback was cut off here
}

// JSON writes a line for each checkpoint.
func (a Listed) JSON(w io.Writer) error {
	lines := render.NewLines(w)
	for _, l := range a.Sessions {
		for i := range l.Items {
			if err := lines.Write(&l.Items[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Text writes each session's name and topic and the table of its checkpoints.
func (a Listed) Text(w io.Writer, v render.View) error {
	p := &page{w: w, view: v}
	p.unfinished(a.Unfinished)
	for i, l := range a.Sessions {
		if i > 0 {
			p.gap()
		}
		p.fields(field{"Session", say(string(l.Session))}, field{"Topic", say(l.Topic)})
		p.items(l.Items)
		if more := l.Total - len(l.Items); more > 0 {
			p.line(dim(strconv.Itoa(len(l.Items)) + " of " + strconv.Itoa(l.Total) + " shown"))
		}
	}
	return p.err
}

func (p *page) items(items []inspect.Item) {
	t := render.Table{Columns: []render.Column{
		{Title: "#", Align: render.Right}, {Title: "Checkpoint", Min: 16}, {Title: "Time"}, {Title: "Trigger", Min: 8},
		{Title: "Files", Align: render.Right}, {Title: "Status"}, {Title: "Marks"}, {Title: "Message", Min: 12},
	}}
	if p.view.Layout == render.Tabbed {
		t.Columns = append(t.Columns, render.Column{Title: "Id"})
	}
	for _, item := range items {
		role := render.ID
		if item.Discarded {
			role = render.Dim
		}
		t.Rows = append(t.Rows, []render.Cell{
			cell(role, Number(item)), cell(role, item.Label), cell(render.Normal, p.view.Time(item.CreatedAt.Time)),
			cell(render.Normal, item.Trigger), cell(render.Normal, strconv.Itoa(item.Files)), cell(render.Normal, item.Status),
			spaced(marks(item.Current, item.Discarded, item.Pinned, item.Valid)), words(item), cell(render.Dim, string(item.ID)),
		})
	}
	p.table(t)
	p.hidden(items)
}

// words is the message's first line, or what is wrong.
func words(item inspect.Item) render.Cell {
	if item.Problem != "" {
		return cell(render.Error, item.Problem)
	}
	subject, _, _ := strings.Cut(item.Message, "\n")
	return cell(render.Normal, subject)
}

// hidden gives people the ids of what is not live: a label and a number mean the live
// checkpoint of that name. Programs have a column of ids.
func (p *page) hidden(items []inspect.Item) {
	var rows [][]render.Cell
	for _, item := range items {
		if item.Discarded || !item.Valid {
			rows = append(rows, []render.Cell{cell(render.Dim, item.Label), cell(render.Dim, string(item.ID))})
		}
	}
	if p.view.Layout == render.Aligned {
		p.section("Reached by id", []render.Column{{Min: 12}, {}}, rows)
	}
}

// Number is what a person types for a checkpoint that is live: 3, 6.2, 3+1.
func Number(item inspect.Item) string {
	number := strconv.Itoa(item.Step)
	if item.Milestone {
		if item.Iteration != "" {
			number += "." + item.Iteration
		} else if item.Redone {
			number += "." + checkpoint.FirstIteration
		}
		return number
	}
	if i := strings.LastIndexByte(item.Label, '+'); i >= 0 {
		number += item.Label[i:]
	}
	return number
}

func marks(current, discarded, pinned, valid bool) (found []render.Span) {
	for _, m := range []struct {
		is   bool
		span render.Span
	}{
		{current, render.Span{Role: render.Success, Text: "current"}},
		{discarded, dim("discarded")},
		{!valid, render.Span{Role: render.Error, Text: "invalid"}},
		{pinned, render.Span{Role: render.Hint, Text: "pinned"}},
	} {
		if m.is {
			found = append(found, m.span)
		}
	}
	return found
}

func spaced(spans []render.Span) (c render.Cell) {
	for i, s := range spans {
		if i > 0 {
			c = append(c, plain(" "))
		}
		c = append(c, s)
	}
	return c
}
