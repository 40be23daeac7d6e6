package answer

import (
	"cmp"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/blame"
)

// Blamed is the answer of blame.
type Blamed struct{ Lines []blame.Line }

// text writes each line of the file after the checkpoint that wrote it, or the commit if it is
// older than any checkpoint.
func (a Blamed) text(p *page) {
	const messageWidth = 32 // how many characters of a message are shown, so that the line of the file still fits next to it
	columns := []render.Column{{}, {Min: 18}, {}, {}, {Align: render.Right}, {Min: 34, Tabs: true}}
	p.table(columns, gather.List(a.Lines, func(l blame.Line) []render.Cell {
		// A line that is older than all checkpoints has only a commit.
		from := cell(render.ID, cmp.Or(when(p.view.Verbose && !strings.Contains(l.Ref, ":"), l.Label), l.Ref))
		if l.Label == "" && l.Commit != "" {
			from = cell(render.Dim, l.Commit.Short())
		}
		return []render.Cell{
			from, cell(render.Dim, name.Clip(cmp.Or(l.Message, l.Because), messageWidth)), cell(render.Dim, madeBy(l)), cell(render.Dim, p.view.Age(l.Time.Time)),
			cell(render.Dim, strconv.Itoa(l.Line)), say(l.Content),
		}
	}))
}

// madeBy says in a word or two who made a line.
func madeBy(l blame.Line) string {
	switch l.By {
	case author.Agent:
		return l.Agent
	case author.During:
		return "during " + l.Agent
	case author.Outside:
		return "outside"
	case author.Unknown:
		return "unknown"
	}
	return ""
}
