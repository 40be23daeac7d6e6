package answer

// This file writes the list for people. Name and age are always shown. The other columns are optional: one whose
// cells are all the same is said once above the table, and one that does not fit is left out.

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/inspect"
)

// Choices returns the rows of the list, newest first, for a picker: the id of each checkpoint, what
// is typed for it, and its line.
func Choices(items []inspect.Item, v render.View) (ids, keys, lines []string) {
	items = newestFirst(items)
	_, t := peopleTable(v, items)
	// The picker shows a question in place of a header.
	for i := range t.Columns {
		t.Columns[i].Title = ""
	}
	var text strings.Builder
	_ = v.Table(&text, t) // all at once, so that the lines are aligned with each other; a Builder takes everything
	ids = gather.List(items, func(i inspect.Item) string { return string(i.ID) })
	keys = gather.List(items, func(i inspect.Item) string { return render.Escape(typed(i)) })
	return ids, keys, strings.Split(text.String(), "\n")[:len(items)]
}

// rows writes the list for people: newest first, the current checkpoint marked, within the width of
// the terminal.
func (p *page) rows(items []inspect.Item) {
	shared, t := peopleTable(p.view, newestFirst(items))
	if len(shared) > 0 {
		p.line(dim(strings.Join(shared, " · ")))
	}
	p.table(t.Columns, t.Rows)
}

// newestFirst returns a reversed copy.
func newestFirst(items []inspect.Item) []inspect.Item {
	items = slices.Clone(items)
	slices.Reverse(items)
	return items
}

// typed returns what a person types for a row.
func typed(item inspect.Item) string { return cmp.Or(item.Twin, item.Row.Name, Number(item)) }

// optionalColumn is a column that may be left out.
type optionalColumn struct {
	render.Column
	cell func(inspect.Item) render.Cell     // the cell of a row
	same func(text string, rows int) string // how to say a value that all rows share; nil: a column even then
}

// optionalColumns returns the optional columns, most important first.
func optionalColumns() []optionalColumn {
	const roomForMessage = 10 // a narrower column is of no use
	asItIs := func(text string, _ int) string { return text }
	return []optionalColumn{
		{render.Column{Title: "Marks"}, func(i inspect.Item) render.Cell {
			return spaced(marks{discarded: i.Discarded, invalid: !i.Valid, pinned: i.Pinned, incomplete: i.Incomplete, others: i.Others}.spans(render.Aligned))
		}, asItIs},
		{render.Column{Title: "Tokens", Align: render.Right}, func(i inspect.Item) render.Cell { return say(tokensOf(i.Usage)) }, nil},
		{render.Column{Title: "Price", Align: render.Right}, func(i inspect.Item) render.Cell { return say(priceOf(i.Usage)) }, nil},
		{render.Column{Title: "Message", Min: roomForMessage}, words, nil},
		{render.Column{Title: "By"}, makerCell, asItIs},
		{render.Column{Title: "Status"}, func(i inspect.Item) render.Cell {
			return say(when(i.Status != checkpoint.StatusOpen, i.Status))
		}, asItIs},
		{render.Column{Title: "Lines", Align: render.Right}, changedLines, nil},
		{render.Column{Title: "Files", Align: render.Right}, func(i inspect.Item) render.Cell { return say(when(i.Files > 0, strconv.Itoa(i.Files))) }, sameFiles},
	}
}

// makerCell returns who made a checkpoint, or by which trigger, unless it was made by hand.
func makerCell(i inspect.Item) render.Cell {
	return say(cmp.Or(i.Row.By, when(i.Trigger != workflow.TriggerManual, i.Trigger)))
}

// changedLines says how many lines a checkpoint changed.
func changedLines(i inspect.Item) render.Cell {
	if n := i.Row.Lines; n != nil && n.Added+n.Deleted > 0 {
		return say(fmt.Sprintf("+%d -%d", n.Added, n.Deleted))
	}
	return nil
}

// sameFiles is the same function of the column with the number of files.
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

// peopleTable returns what all rows have in common, and the table of the rest.
func peopleTable(v render.View, items []inspect.Item) (shared []string, t render.Table) {
	t.Columns = []render.Column{{Title: "  #"}, {Title: "Age"}}
	t.Rows = requiredCells(v, items)
	// room is what the required columns leave of the width.
	room := v.Width
	for i, c := range t.Columns {
		room -= render.ColumnGap + widest(c.Title, t.Rows, i)
	}
	if room += render.ColumnGap; room < 0 {
		t.Columns[0].Min = 1 // cut the name; the age is short already
	}
	for _, c := range optionalColumns() {
		column := gather.List(items, func(item inspect.Item) []render.Cell { return []render.Cell{c.cell(item)} })
		// Leave out a column without any text, and one whose common text was said above the table.
		if text, alike := common(column); alike && (text == "" || c.same != nil) {
			if text != "" {
				shared = append(shared, c.same(text, len(items)))
			}
			continue
		}
		// A column that can be cut needs only its minimum.
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

// requiredCells returns the name and age of each row, after the mark of the current checkpoint.
// Numbers are aligned to the right, labels to the left.
func requiredCells(v render.View, items []inspect.Item) [][]render.Cell {
	width := 0
	for _, item := range items {
		name := typed(item)
		if !isNumber(name) {
			width = 0
			break
		}
		width = max(width, render.Width(render.Escape(name)))
	}
	rows := make([][]render.Cell, len(items))
	for i, item := range items {
		role, mark := render.ID, "  "
		if item.Discarded {
			role = render.Dim
		}
		if item.IsStep {
			mark = "* "
		}
		name := typed(item)
		blank := strings.Repeat(" ", max(0, width-render.Width(render.Escape(name))))
		rows[i] = []render.Cell{{{Role: render.Success, Text: mark}, {Role: role, Text: blank + name}}, say(v.Age(item.CreatedAt.Time))}
	}
	return rows
}

// isNumber reports whether a name begins with the digits of a step, and has no more than a count or an iteration.
func isNumber(name string) bool {
	const longest = len("1000+safety-10")
	return name != "" && name[0] >= '0' && name[0] <= '9' && len(name) <= longest
}

// widest returns the width that a column needs.
func widest(title string, rows [][]render.Cell, column int) int {
	width := render.Width(title)
	for _, row := range rows {
		width = max(width, render.Width(render.Escape(row[column].Text())))
	}
	return width
}

// common returns the text that all cells of a column have, and whether they are the same.
func common(column [][]render.Cell) (text string, alike bool) {
	for i, row := range column {
		if own := row[0].Text(); i == 0 {
			text = own
		} else if own != text {
			return "", false
		}
	}
	return text, true
}

// tokensOf returns the number of all tokens that a turn used, or "".
func tokensOf(u *checkpoint.Spending) string {
	if u == nil {
		return ""
	}
	return strconv.FormatInt(u.Total(), 10)
}

// priceOf returns the price of a turn in the user's currency, or "".
func priceOf(u *checkpoint.Spending) string {
	if u == nil || u.Price == nil {
		return ""
	}
	return u.PriceWords()
}
