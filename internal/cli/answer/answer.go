// Package answer owns how each answer of the domain reads: as text for people, as
// tab-separated text off a terminal, and as the members of --json. It is pure: it
// gets values and writes to what it is handed; it opens no repository, knows no
// clock and decides no exit code. Every text passes through render, which refuses
// to hand a terminal anything that it would obey.
package answer

import (
	"io"
	"strings"

	"git-checkpoint/internal/render"
)

// Answer is what a command has found out or done, in its two forms.
type Answer interface {
	Text(io.Writer, render.View) error
	JSON(io.Writer) error
}

// listed is how many entries of a list a person is shown before "… and 12 more".
// Off a terminal nothing is cut.
const listed = 12

// page is what one answer is written on; it keeps the first error, so that the
// functions that fill it read as the page does.
type page struct {
	w     io.Writer
	view  render.View
	names Files
	err   error
}

// Files says how many files of a long list an answer names.
type Files int

// The choices.
const (
	FilesByView Files = iota // all of them to a program, the first ones to a person
	FilesAll
	FilesFew
)

// FilesListed is how many files a list names to a person.
const FilesListed = 20

// whole reports whether lists are not cut.
func (p *page) whole() bool {
	return p.names == FilesAll || p.names == FilesByView && p.view.Layout == render.Tabbed
}

func (p *page) line(spans ...render.Span) {
	if p.err == nil {
		p.err = p.view.Line(p.w, spans...)
	}
}

func (p *page) text(prefix, text string) {
	if p.err == nil && text != "" {
		p.err = p.view.Text(p.w, prefix, text)
	}
}

func (p *page) table(t render.Table) {
	if p.err == nil && len(t.Rows) > 0 {
		p.err = p.view.Table(p.w, t)
	}
}

// gap separates sections; programs get no empty lines.
func (p *page) gap() {
	if p.view.Layout == render.Aligned {
		p.line()
	}
}

// fields writes "name  value" rows, leaving out those without a value.
func (p *page) fields(rows ...field) {
	t := render.Table{Columns: []render.Column{{}, {Min: 20}}}
	for _, row := range rows {
		if row.value.empty() {
			continue
		}
		t.Rows = append(t.Rows, []render.Cell{cell(render.Dim, row.name), row.value.Cell})
	}
	p.table(t)
}

// section writes a heading and the rows below it, cut for people.
func (p *page) section(title string, columns []render.Column, rows [][]render.Cell) {
	rows, more := cut(p, rows, listed)
	p.cutSection(title, columns, rows, more)
}

// cutSection is section of rows that were cut.
func (p *page) cutSection(title string, columns []render.Column, rows [][]render.Cell, more int) {
	if len(rows) == 0 {
		return
	}
	p.line(heading(title))
	for i, row := range rows {
		rows[i] = append([]render.Cell{nil}, row...)
	}
	p.table(render.Table{Columns: append([]render.Column{{}}, columns...), Rows: rows})
	if more > 0 {
		p.line(dim("  … and " + render.Count(more, "more", "more")))
	}
}

// cut leaves of a list what people read at once; others get all of it.
func cut[T any](p *page, list []T, most int) (shown []T, more int) {
	if p.whole() || len(list) <= most {
		return list, 0
	}
	return list[:most], len(list) - most
}

// enumeration is a list in a line.
func (p *page) enumeration(list []string) string {
	shown, more := cut(p, list, listed)
	text := strings.Join(shown, ", ")
	if more > 0 {
		text += ", … and " + render.Count(more, "more", "more")
	}
	return text
}

type field struct {
	name  string
	value value
}

// value is a cell that knows whether it says anything.
type value struct{ render.Cell }

func (v value) empty() bool {
	for _, s := range v.Cell {
		if s.Text != "" {
			return false
		}
	}
	return true
}

func say(text string) value                    { return value{cell(render.Normal, text)} }
func says(role render.Role, text string) value { return value{cell(role, text)} }
func plain(text string) render.Span            { return render.Span{Text: text} }
func dim(text string) render.Span              { return render.Span{Role: render.Dim, Text: text} }
func heading(text string) render.Span          { return render.Span{Role: render.Heading, Text: text} }

// cell is text in a table; without text it is nothing, not even blanks before it.
func cell(role render.Role, text string) render.Cell {
	if text == "" {
		return nil
	}
	return render.Cell{{Role: role, Text: text}}
}

// all is s as JSON wants it: a list is never null.
func all[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
