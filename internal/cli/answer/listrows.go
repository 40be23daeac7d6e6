package answer

import (
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/render"
)

// Choice is a checkpoint that can be picked: what is typed for it, and its line in the list.
type Choice struct {
	ID, Key, Line string
}

// Choices are the rows of the list, the newest first, to pick one.
func Choices(items []inspect.Item, v render.View) ([]Choice, error) {
	items = newestFirst(items)
	_, t := peopleTable(v, items)
	for i := range t.Columns {
		t.Columns[i].Title = ""
	}
	var text strings.Builder
	if err := v.Table(&text, t); err != nil {
		return nil, err
	}
	lines := strings.Split(text.String(), "\n")
	choices := make([]Choice, len(items))
	for i, item := range items {
		choices[i] = Choice{string(item.ID), render.Escape(typed(item)), lines[i]}
	}
	return choices, nil
}

// rows is the list as people read it: the newest first, the current one marked, within the
// width of the terminal, and what all rows have in common said once above them.
func (p *page) rows(items []inspect.Item) {
	shared, t := peopleTable(p.view, newestFirst(items))
	if len(shared) > 0 {
		p.line(dim(strings.Join(shared, " · ")))
	}
	p.table(t)
}

func newestFirst(items []inspect.Item) []inspect.Item {
	items = slices.Clone(items)
	slices.Reverse(items)
	return items
}

// typed is what a person types for a row. The number of a discarded one may mean a live one
// by now, so that has its commit, which means nothing else.
func typed(item inspect.Item) string {
	const enough = 8 // to be the only one in a session
	if item.Discarded && len(item.Commit) > enough {
		return string(item.Commit[:enough])
	}
	return Number(item)
}

// optionalColumn is one that is left out where all its cells are alike, or where it would
// cost the label its end.
type optionalColumn struct {
	render.Column
	cell func(inspect.Item) render.Cell
	same func(text string, rows int) string // how what all cells have in common is said
}

// optionalColumns are in the order in which they matter.
func optionalColumns() []optionalColumn {
	const roomForMessage = 10 // less is not worth a column
	asItIs := func(text string, _ int) string { return text }
	return []optionalColumn{
		{render.Column{Title: "Marks"}, func(i inspect.Item) render.Cell { return spaced(marks(false, i.Discarded, i.Pinned, i.Valid)) }, asItIs},
		{render.Column{Title: "Message", Min: roomForMessage}, words, nil},
		{render.Column{Title: "Trigger"}, func(i inspect.Item) render.Cell { return cell(render.Normal, i.Trigger) }, asItIs},
		{render.Column{Title: "Status"}, func(i inspect.Item) render.Cell { return cell(render.Normal, i.Status) }, asItIs},
		{render.Column{Title: "Files", Align: render.Right}, func(i inspect.Item) render.Cell { return cell(render.Normal, strconv.Itoa(i.Files)) }, sameFiles},
	}
}

func sameFiles(count string, rows int) string {
	n, err := strconv.Atoi(count)
	if err != nil {
		return ""
	}
	text := render.Count(n, "file", "files")
	if rows > 1 {
		text += " each"
	}
	return text
}

// peopleTable gives what all rows have in common and the table of the rest.
func peopleTable(v render.View, items []inspect.Item) (shared []string, t render.Table) {
	t.Columns = []render.Column{{Title: "  #"}, {Title: "Checkpoint"}, {Title: "Age"}}
	t.Rows = requiredCells(v, items)
	room := v.Width
	for i, c := range t.Columns {
		room -= render.ColumnGap + widest(c.Title, t.Rows, i)
	}
	if room += render.ColumnGap; room < 0 {
		t.Columns[1].Min = 1 // nothing else can give way
	}
	for _, c := range optionalColumns() {
		column := make([][]render.Cell, len(items))
		for i, item := range items {
			column[i] = []render.Cell{c.cell(item)}
		}
		if text, alike := common(column); alike && (text == "" || c.same != nil) {
			if text != "" {
				shared = append(shared, c.same(text, len(items)))
			}
			continue
		}
		needed := widest(c.Title, column, 0)
		if c.Min > 0 {
			needed = min(needed, c.Min)
		}
		if needed += render.ColumnGap; v.Width > 0 && needed > room {
			continue
		}
		room -= needed
		t.Columns = append(t.Columns, c.Column)
		for i := range items {
			t.Rows[i] = append(t.Rows[i], column[i][0])
		}
	}
	return shared, t
}

// requiredCells are number, label and age of each row.
func requiredCells(v render.View, items []inspect.Item) [][]render.Cell {
	width := 0
	for _, item := range items {
		width = max(width, render.Width(render.Escape(typed(item))))
	}
	rows := make([][]render.Cell, len(items))
	for i, item := range items {
		role, mark := render.ID, "  "
		if item.Discarded {
			role = render.Dim
		}
		if item.Current {
			mark = "* "
		}
		number := typed(item)
		blank := strings.Repeat(" ", width-render.Width(render.Escape(number)))
		rows[i] = []render.Cell{
			{{Role: render.Success, Text: mark}, {Role: role, Text: blank + number}},
			cell(role, item.Label), cell(render.Normal, render.Age(item.CreatedAt.Time, v.Now)),
		}
	}
	return rows
}

// widest is what a column takes.
func widest(title string, rows [][]render.Cell, column int) int {
	width := render.Width(title)
	for _, row := range rows {
		width = max(width, render.Width(render.Escape(plainText(row[column]))))
	}
	return width
}

// common is the text of all cells of a column, when they are alike.
func common(column [][]render.Cell) (text string, alike bool) {
	for i, row := range column {
		if own := plainText(row[0]); i == 0 {
			text = own
		} else if own != text {
			return "", false
		}
	}
	return text, true
}

func plainText(c render.Cell) string {
	var b strings.Builder
	for _, s := range c {
		b.WriteString(s.Text)
	}
	return b.String()
}
