// Package answer turns the results of commands into output: text for people at a terminal,
// tab-separated text for pipes, and JSON for --json.
//
// There is one type per answer. It wraps the result of a verb (such as rollback.Answer) and
// implements Answer. Its method text fills a page, a small writer with methods for lines, fields, tables and
// sections, which adapts to the View: a person sees shortened lists and relative times, a program
// gets everything. JSON writes the members as documented.
//
// The package is pure: it gets values and a writer. It opens no repository, uses no clock and sets
// no exit code. All text passes through package render, which escapes whatever a terminal would
// interpret. The expected output of each answer is in testdata. Start reading with Answer and page.
package answer

import (
	"io"
	"reflect"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// Answer is the result of a command, in its two forms.
type Answer interface {
	// text writes the answer as lines or tables, for a person or a program as the view of the page
	// says.
	text(*page)
}

// Text writes an answer as text.
func Text(w io.Writer, v render.View, a Answer) error {
	p := &page{w: w, view: v}
	a.text(p)
	return p.err
}

// listed is the number of entries of a list that a person sees before "... and 12 more". Lists in a
// pipe are not cut.
const listed = 12

// page collects the output of one answer. Its methods do nothing after an error, so that the
// functions that fill it need no checks; the caller returns err at the end.
type page struct {
	w     io.Writer
	view  render.View
	names Files // tells how many names lists of files show. The zero value leaves it to the view
	err   error // the first error of a write. Nothing is written after it
}

// Files tells how many names of a long list of files an answer shows.
type Files int

// The choices.
const (
	FilesByView Files = iota // a program gets all names, a person the first ones
	FilesAll
	FilesFew
)

// FilesListed is the number of files that a list names to a person.
const FilesListed = 20

// whole reports whether lists are shown completely.
func (p *page) whole() bool {
	return p.names == FilesAll || p.names == FilesByView && p.view.Layout == render.Tabbed
}

// line writes spans as one line.
func (p *page) line(spans ...render.Span) {
	if p.err == nil {
		p.err = p.view.Line(p.w, spans...)
	}
}

// text writes text of several lines, each after prefix, unless it is empty.
func (p *page) text(prefix, text string) {
	if p.err == nil && text != "" {
		p.err = p.view.Text(p.w, prefix, text)
	}
}

// table writes a table, unless it has no rows.
func (p *page) table(columns []render.Column, rows [][]render.Cell) {
	if p.err == nil && len(rows) > 0 {
		p.err = p.view.Table(p.w, render.Table{Columns: columns, Rows: rows})
	}
}

// gap writes an empty line between sections. Programs get none.
func (p *page) gap() {
	if p.view.Layout == render.Aligned {
		p.line()
	}
}

// fields writes "name  value" rows, without those that have no value.
func (p *page) fields(rows ...field) {
	var named [][]render.Cell
	for _, row := range rows {
		if row.value.Text() != "" {
			named = append(named, []render.Cell{cell(render.Dim, row.name), row.value})
		}
	}
	p.table([]render.Column{{}, {Min: 20, Wrap: true}}, named)
}

// section writes a heading and indented rows, shortened for people; without a title it is only the
// rows. It writes nothing without rows.
func (p *page) section(title string, columns []render.Column, rows [][]render.Cell) {
	rows, more := cut(p, rows, listed)
	p.cutSection(title, columns, rows, more)
}

// cutSection is section for rows that the caller has shortened; more is the number of rows left
// out.
func (p *page) cutSection(title string, columns []render.Column, rows [][]render.Cell, more int) {
	if len(rows) == 0 {
		return
	}
	indent := ""
	if title != "" {
		p.line(heading(title))
		for i, row := range rows {
			// An empty first column indents the rows.
			rows[i] = append([]render.Cell{nil}, row...)
		}
		columns, indent = append([]render.Column{{}}, columns...), "  "
	}
	p.table(columns, rows)
	if more > 0 {
		p.line(dim(indent + "… and " + strconv.Itoa(more) + " more"))
	}
}

// cut returns the beginning of a list for a person, and how many entries it left out. Programs get
// the complete list.
func cut[T any](p *page, list []T, most int) (shown []T, more int) {
	if p.whole() || len(list) <= most {
		return list, 0
	}
	return list[:most], len(list) - most
}

// mentionsOf returns how checkpoints are mentioned.
func mentionsOf(list []checkpoint.Labelled) []string {
	return gather.List(list, func(c checkpoint.Labelled) string { return c.Mention.String() })
}

// paths writes a section with one path per row.
func (p *page) paths(title string, role render.Role, list []checkpoint.Path) {
	p.section(title, []render.Column{{Min: 20}}, gather.List(list, func(path checkpoint.Path) []render.Cell {
		return []render.Cell{cell(role, string(path))}
	}))
}

// reasons writes a section with a path, and why it is listed, per row.
func (p *page) reasons(title string, role render.Role, list [][2]string) {
	p.section(title, []render.Column{{Min: 20}, {Min: 20}}, gather.List(list, func(row [2]string) []render.Cell {
		return []render.Cell{cell(role, row[0]), say(row[1])}
	}))
}

// oneLineEach names the paths of rows, in their second column, as worktree.OneLineEach does. changed is for a database
// that itself stays.
func oneLineEach(rows [][]render.Cell, changed render.Cell) (out [][]render.Cell) {
	paths := gather.List(rows, func(row []render.Cell) string { return row[1].Text() })
	for i, name := range worktree.OneLineEach(paths) {
		if name != paths[i] && worktree.DatabaseOf(paths[i]) != "" {
			rows[i][0] = changed
		}
		if rows[i][1][0].Text = name; name != "" {
			out = append(out, rows[i])
		}
	}
	return out
}

// enumeration returns a list on one line, separated by commas.
func (p *page) enumeration(list []string) string {
	shown, more := cut(p, list, listed)
	text := strings.Join(shown, ", ")
	if more > 0 {
		text += ", … and " + strconv.Itoa(more) + " more"
	}
	return text
}

// field is one row for fields.
type field struct {
	name  string
	value render.Cell
}

// when returns text if it applies, else "".
func when(applies bool, text string) string {
	if applies {
		return text
	}
	return ""
}

// say makes a cell of normal text; plain, dim and heading make a span.
func say(text string) render.Cell     { return cell(render.Normal, text) }
func plain(text string) render.Span   { return render.Span{Text: text} }
func dim(text string) render.Span     { return render.Span{Role: render.Dim, Text: text} }
func heading(text string) render.Span { return render.Span{Role: render.Heading, Text: text} }

// cell returns a cell with text, or nil for an empty text. nil gets no padding before it at the end
// of a row.
func cell(role render.Role, text string) render.Cell {
	if text == "" {
		return nil
	}
	return render.Cell{{Role: role, Text: text}}
}

// JSON writes an answer as an object on one line, or as one object per line where it is a list. Its first field has what
// is shown, unless its fields are members themselves. A method shows returns what that rule does not find.
func JSON(w io.Writer, a Answer) error {
	v := reflect.New(reflect.TypeOf(a)).Elem()
	v.Set(reflect.ValueOf(a))
	if other, is := a.(interface{ shows() any }); is {
		v = reflect.ValueOf(other.shows())
	} else if v.Kind() == reflect.Struct && v.Type().Field(0).Tag == "" {
		v = v.Field(0)
	}
	return jsonLines(w, v)
}

// jsonLines writes a value as one line of JSON, and each entry of a list as its own.
func jsonLines(w io.Writer, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			if err := jsonLines(w, v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.Struct:
		v = v.Addr()
	}
	return render.JSON(w, v.Interface())
}
