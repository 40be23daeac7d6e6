package render

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
)

// Align tells on which side of its column a cell is.
type Align uint8

// The alignments. Left is the zero value; numbers use Right.
const (
	Left Align = iota
	Right
)

// Column describes a column of a table. Min is the number of terminal columns to which it may be
// cut when a row is too long for the terminal. A column with Min 0 is cut only if cutting the
// others is not enough.
type Column struct {
	Title string
	Align Align
	Min   int
	Wrap  bool // a cell that does not fit is broken between words; only in the last column
	Tabs  bool // cells may have tabs; only in the last column, where nothing follows that they could be taken for
}

// Cell is the content of one field of a row.
type Cell []Span

// Table is a header and rows. The header is not shown if all titles are empty. A row may be shorter
// than the header; missing cells are empty.
type Table struct {
	Columns []Column
	Rows    [][]Cell
}

// ColumnGap is the number of spaces between two columns.
const ColumnGap = 2

// Table writes t: for people aligned and cut to the width of the terminal, for programs
// tab-separated and complete. People do not see a titled column without any text.
func (v View) Table(w io.Writer, t Table) error {
	if v.Layout == Aligned {
		t = t.filled()
	}
	rows := t.escaped(v.longest())
	var b strings.Builder
	if v.Layout == Tabbed {
		v.tabbed(&b, rows)
	} else {
		v.aligned(&b, t.Columns, rows)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// filled returns t without titled columns that are empty in every row. The first column stays.
func (t Table) filled() Table {
	less := Table{Rows: make([][]Cell, len(t.Rows))}
	for i, c := range t.Columns {
		fills := func(row []Cell) bool { return i < len(row) && row[i].Text() != "" }
		if i > 0 && c.Title != "" && !slices.ContainsFunc(t.Rows, fills) {
			continue
		}
		less.Columns = append(less.Columns, c)
		for j, row := range t.Rows {
			if i < len(row) {
				less.Rows[j] = append(less.Rows[j], row[i])
			}
		}
	}
	return less
}

// longest returns how many bytes of a text can matter. A cell may hold a message of megabytes, of
// which only the beginning fits on the terminal; the rest must not be measured character by
// character.
func (v View) longest() int {
	if v.Layout == Tabbed || v.Width <= 0 {
		return math.MaxInt
	}
	return 64 * v.Width
}

// escaped returns the header, if there is one, and the rows, all of the same length and with their
// texts escaped.
func (t Table) escaped(longest int) [][]Cell {
	rows := make([][]Cell, 0, len(t.Rows)+1)
	header, titled := make([]Cell, len(t.Columns)), false
	for i, c := range t.Columns {
		header[i] = Cell{{Heading, Escape(c.Title)}}
		titled = titled || c.Title != ""
	}
	if titled {
		rows = append(rows, header)
	}
	for _, row := range t.Rows {
		safe := make([]Cell, len(t.Columns))
		for i := range min(len(row), len(safe)) {
			for _, s := range row[i] {
				parts := []string{name.Short(s.Text, longest)}
				if t.Columns[i].Tabs {
					parts = strings.Split(parts[0], "\t")
				}
				for j := range parts {
					parts[j] = Escape(parts[j])
				}
				safe[i] = append(safe[i], Span{s.Role, strings.Join(parts, "\t")})
			}
		}
		rows = append(rows, safe)
	}
	return rows
}

// tabbed writes rows for programs. Escape has turned tabs and newlines inside cells into \t and \n,
// so the fields can be split.
func (v View) tabbed(b *strings.Builder, rows [][]Cell) {
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				b.WriteByte('\t')
			}
			for _, s := range cell {
				if s.Role == Heading {
					s.Role = Normal
				}
				b.WriteString(v.Style.wrap(s.Role, s.Text))
			}
		}
		b.WriteByte('\n')
	}
}

// expand makes spaces of the tabs in columns that may have them.
func expand(columns []Column, rows [][]Cell) {
	for i, c := range columns {
		for _, row := range rows {
			for j := range row[i] {
				if c.Tabs {
					row[i][j].Text = tabsToSpaces(row[i][j].Text)
				}
			}
		}
	}
}

// aligned writes rows for people, with columns wide enough for their longest cell or cut by shrink.
// Titled columns at the right end that have no room are left out: a few that can be read are of more
// use than many that consist of ellipses.
func (v View) aligned(b *strings.Builder, columns []Column, rows [][]Cell) {
	expand(columns, rows)
	widths := make([]int, len(columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], cell.width())
		}
	}
	if v.Width > 0 {
		if slices.ContainsFunc(columns, func(c Column) bool { return c.Title != "" }) {
			columns = columns[:fitting(widths, columns, v.Width)]
			widths = widths[:len(columns)]
		}
		shrink(widths, columns, v.Width-ColumnGap*(len(columns)-1))
	}
	for _, row := range folded(rows, columns, widths) {
		owed := 0 // spaces are written only before more text, so that no line ends in spaces
		for i, cell := range row[:len(columns)] {
			cell = cell.cut(widths[i])
			blank := widths[i] - cell.width()
			if columns[i].Align == Right {
				owed, blank = owed+blank, 0
			}
			for _, s := range cell {
				b.WriteString(strings.Repeat(" ", owed))
				b.WriteString(v.Style.wrap(s.Role, s.Text))
				owed = 0
			}
			owed += blank + ColumnGap
		}
		b.WriteByte('\n')
	}
}

// folded breaks the rows whose last cell is too wide, if that column may be wrapped.
func folded(rows [][]Cell, columns []Column, widths []int) (all [][]Cell) {
	last := len(columns) - 1
	for _, row := range rows {
		if !columns[last].Wrap || row[last].width() <= widths[last] {
			all = append(all, row)
			continue
		}
		for _, line := range row[last].lines(widths[last]) {
			broken := make([]Cell, len(row))
			copy(broken, row[:last])
			broken[last] = line
			all, row = append(all, broken), make([]Cell, len(row))
		}
	}
	return all
}

// lines breaks a cell between words, and not within backquotes. A longer word has a line of its own. The lines after the first
// begin with the blanks of the first one.
func (c Cell) lines(columns int) (all []Cell) {
	var line Cell
	used, indent := 0, ""
	for _, s := range c {
		for _, word := range words(s.Text) {
			bare := strings.TrimRight(word, " ")
			if used > len(indent) && bare != "" && used+Width(bare) > columns {
				line[len(line)-1].Text = strings.TrimRight(line[len(line)-1].Text, " ")
				all, line, used = append(all, line), Cell{{Text: indent}}, len(indent)
			}
			if used == len(indent) && bare == "" && len(all) == 0 {
				indent += word
			}
			line = append(line, Span{s.Role, word})
			used += Width(word)
		}
	}
	return append(all, line)
}

// words cuts a text behind each blank, but not within backquotes.
func words(text string) (all []string) {
	for _, word := range strings.SplitAfter(text, " ") {
		if last := len(all) - 1; last >= 0 && strings.Count(all[last], "`")%2 == 1 {
			all[last] += word
		} else {
			all = append(all, word)
		}
	}
	return all
}

// fitting returns how many columns, from the first on, can be wide enough to be read.
func fitting(widths []int, columns []Column, room int) int {
	const readable = 12
	for i, c := range columns {
		if room -= min(widths[i], cmp.Or(c.Min, readable)); room < 0 && i > 0 {
			return i
		}
		room -= ColumnGap
	}
	return len(columns)
}

// shrink reduces widths until they sum up to room, taking from the widest columns first: first from
// columns with a Min, down to that, then from all columns, down to one.
func shrink(widths []int, columns []Column, room int) {
	floors := make([]int, len(widths))
	for i, c := range columns {
		floors[i] = widths[i]
		if c.Min > 0 {
			floors[i] = min(widths[i], c.Min)
		}
	}
	if lower(widths, floors, room) {
		return
	}
	for i := range floors {
		floors[i] = min(widths[i], 1)
	}
	lower(widths, floors, room)
}

// lower cuts widths to the greatest level at which they fit into room, but none below its floor. It
// reports whether they fit.
func lower(widths, floors []int, room int) bool {
	for level := slices.Max(widths); ; level-- {
		sum := 0
		for i, w := range widths {
			widths[i] = max(min(w, level), floors[i])
			sum += widths[i]
		}
		if sum <= room || level == 0 {
			return sum <= room
		}
	}
}

// Text returns the text of all spans. A character, as people see it, can begin in one span and end
// in the next, so cells are measured and cut as a whole.
func (c Cell) Text() string {
	var b strings.Builder
	for _, s := range c {
		b.WriteString(s.Text)
	}
	return b.String()
}

func (c Cell) width() int { return Width(c.Text()) }

// cut is Truncate for a cell. Each span keeps its role, and the ellipsis gets the role of the span
// that was cut.
func (c Cell) cut(columns int) Cell {
	whole := c.Text()
	short := Truncate(whole, columns)
	if short == whole {
		return c
	}
	room := len(strings.TrimSuffix(short, ellipsis))
	ending := short[room:]
	var kept Cell
	for _, s := range c {
		if len(s.Text) > room {
			return append(kept, Span{s.Role, s.Text[:room] + ending})
		}
		kept = append(kept, s)
		room -= len(s.Text)
	}
	return kept
}
