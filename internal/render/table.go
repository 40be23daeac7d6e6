package render

import (
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// Align is the side of its column that a cell keeps to.
type Align uint8

// Left is the zero alignment; numbers go Right.
const (
	Left Align = iota
	Right
)

// Column describes one column. One with a Min may be cut to that many columns of the
// terminal when a row is too long; the others only when that is not enough.
type Column struct {
	Title string
	Align Align
	Min   int
}

// Cell is the content of one field.
type Cell []Span

// Table is a header and rows; a header without any title is not shown.
type Table struct {
	Columns []Column
	Rows    [][]Cell
}

// ColumnGap is the blank between two columns.
const ColumnGap = 2

// Table writes t: aligned and cut to the width for people, tab-separated and whole
// for programs.
func (v View) Table(w io.Writer, t Table) error {
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

// longest is how many bytes of a text can matter: a message of megabytes in a cell that
// is cut to the terminal anyway must not be measured character by character.
func (v View) longest() int {
	if v.Layout == Tabbed || v.Width <= 0 {
		return math.MaxInt
	}
	return 64 * v.Width
}

// escaped is the header, if there is one, and the rows, each as long as the columns
// and with its text safe to show.
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
				safe[i] = append(safe[i], Span{s.Role, Escape(clip(s.Text, longest))})
			}
		}
		rows = append(rows, safe)
	}
	return rows
}

// clip cuts s to at most size bytes, between code points.
func clip(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size] + ellipsis
}

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

func (v View) aligned(b *strings.Builder, columns []Column, rows [][]Cell) {
	widths := make([]int, len(columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], cell.width())
		}
	}
	if v.Width > 0 {
		shrink(widths, columns, v.Width-ColumnGap*(len(columns)-1))
	}
	for _, row := range rows {
		owed := 0 // blanks are written only before something, so that no line ends in them
		for i, cell := range row {
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

// shrink takes room from the widest columns first: those that allow it, down to their
// Min, then all of them, down to one.
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

// lower cuts widths to the highest common level at which they fit into room, none
// below its floor, and reports whether they do.
func lower(widths, floors []int, room int) bool {
	at := func(level int) (sum int) {
		for i, w := range widths {
			sum += max(min(w, level), floors[i])
		}
		return sum
	}
	low, high := 0, 0
	for _, w := range widths {
		high = max(high, w)
	}
	for low < high {
		if middle := (low + high + 1) / 2; at(middle) <= room {
			low = middle
		} else {
			high = middle - 1
		}
	}
	fits := at(low) <= room
	for i, w := range widths {
		widths[i] = max(min(w, low), floors[i])
	}
	return fits
}

// text is the cell without its roles. Characters are measured and cut in it, because one
// can begin in a span and end in the next.
func (c Cell) text() string {
	var b strings.Builder
	for _, s := range c {
		b.WriteString(s.Text)
	}
	return b.String()
}

func (c Cell) width() int { return Width(c.text()) }

// cut is Truncate over spans: each keeps its role, and the ellipsis has that of the span
// it stands in.
func (c Cell) cut(columns int) Cell {
	whole := c.text()
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
