package pick

// This file draws the screen: it lays out the question, the list, the preview and the line of keys
// for the size of the terminal, and changes nothing in the model.

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"git-checkpoint/internal/format/render"
)

// The layout: a line with the question, the list with the preview beside or below it, a line of
// keys.
const (
	besideFrom = 100 // minimum width for a preview beside the list, in columns
	bar        = 3   // columns between list and preview
	ruler      = 1   // lines between list and preview, if that is below
	frame      = 2   // the first and the last line
)

// isBeside reports whether the preview is beside the list, and not below it.
func (m *model) isBeside() bool { return m.width >= besideFrom }

// listWidth returns the columns of the list: somewhat less than half, because previews are text.
func (m *model) listWidth() int {
	if m.isBeside() {
		return m.width * 9 / 20
	}
	return m.width
}

// listHeight returns the rows of the list. If the preview is below the list, the list takes at most
// half of the screen.
func (m *model) listHeight() int {
	if m.isBeside() {
		return max(1, m.height-frame)
	}
	return max(1, min(len(m.shown), (m.height-frame-ruler)/2))
}

// previewWidth returns the columns of the preview.
func (m *model) previewWidth() int {
	if m.isBeside() {
		return m.width - m.listWidth() - bar
	}
	return m.width
}

// previewHeight returns the rows of the preview. It is at least one, even where the screen has no
// room: View cuts what is too much.
func (m *model) previewHeight() int {
	if m.isBeside() {
		return max(1, m.height-frame)
	}
	return max(1, m.height-frame-ruler-m.listHeight())
}

// inList reports whether a position on the screen is in the list.
func (m *model) inList(x, y int) bool {
	return y >= 1 && y <= m.listHeight() && (!m.isBeside() || x < m.listWidth())
}

// The escape codes of the screen's own parts.
const (
	bold    = "\x1b[1m"
	dim     = "\x1b[2m"
	reverse = "\x1b[7m"
	reset   = "\x1b[m"
)

// View implements tea.Model. It returns the whole screen as text; bubbletea finds out which parts
// differ from what the terminal shows, and writes these.
func (m *model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen, v.MouseMode = true, tea.MouseModeCellMotion
	// The size of the terminal is not known yet.
	if m.lines == nil {
		return v
	}
	rows := []string{m.first()}
	list, preview := m.listRows(), m.previewRows()
	// The help covers list and preview.
	if m.help {
		rows = append(append(rows, m.keys()...), make([]string, max(0, m.height))...)[:max(0, m.height-1)]
	} else if m.isBeside() {
		for i := range list {
			gap := strings.Repeat(" ", max(0, m.listWidth()-ansi.StringWidth(list[i])))
			rows = append(rows, list[i]+gap+dim+" │ "+reset+preview[i])
		}
	} else {
		rows = append(rows, list...)
		rows = append(rows, dim+strings.Repeat("─", m.width)+reset)
		rows = append(rows, preview...)
	}
	rows = append(rows, m.last())
	// A row that is too wide would wrap and push the others down. Each ends with a reset, so that a
	// color that is cut off before its end does not go on in the next row.
	for i, row := range rows {
		rows[i] = ansi.Truncate(row, m.width, "…") + reset
	}
	v.SetContent(strings.Join(rows[:min(len(rows), max(1, m.height))], "\n"))
	return v
}

// first returns the line with the question and the filter.
func (m *model) first() string {
	first := bold + m.list.Question + reset
	if m.typing || m.filter != "" {
		first += "  /" + render.EscapeLines(m.filter)
		if m.typing {
			first += reverse + " " + reset
		}
		first += dim + fmt.Sprintf("  %d of %d", len(m.shown), len(m.lines)) + reset
	}
	return first
}

// last returns the line with the most important keys. The name of the present view is not dimmed.
func (m *model) last() string {
	if m.typing {
		return dim + "type to narrow the list · Enter keeps it · Esc shows all" + reset
	}
	keys := []string{"Enter choose", "? keys", "/ find"}
	for i, view := range m.list.Views {
		name := view.Key + " " + view.Name
		if i == m.view {
			name = reset + name + dim
		}
		keys = append(keys, name)
	}
	return dim + strings.Join(append(keys, "Esc leave"), " · ") + reset
}

// listRows returns the visible part of the list, exactly listHeight rows.
func (m *model) listRows() []string {
	rows := make([]string, m.listHeight())
	for i := range rows {
		at := m.top + i
		if at >= len(m.shown) {
			break
		}
		rows[i] = ansi.Truncate(m.lines[m.shown[at]], m.listWidth(), "…") + reset
		if at == m.cursor {
			// A color code inside the line would end the reverse video.
			plain := colours().ReplaceAllString(rows[i], "")
			rows[i] = reverse + plain + strings.Repeat(" ", max(0, m.listWidth()-ansi.StringWidth(plain))) + reset
		}
	}
	if len(m.shown) == 0 {
		rows[0] = dim + "no checkpoint matches" + reset
	}
	return rows
}

// previewRows returns the visible part of the preview, exactly previewHeight rows.
func (m *model) previewRows() []string {
	rows := make([]string, m.previewHeight())
	if at, ok := m.wanted(); ok {
		if lines := m.preview(at); m.scroll < len(lines) {
			copy(rows, lines[m.scroll:])
		}
	}
	for i := range rows {
		rows[i] = ansi.Truncate(rows[i], m.previewWidth(), "…") + reset
	}
	return rows
}

// preview returns the lines of a preview. Color codes stay, and everything between them is escaped:
// a preview shows files and messages of others, which may contain escape sequences.
func (m *model) preview(at place) []string {
	text, known := m.seen[at]
	if !known {
		return []string{dim + "…" + reset}
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		var b strings.Builder
		end := 0
		for _, code := range colours().FindAllStringIndex(line, -1) {
			b.WriteString(render.EscapeLines(line[end:code[0]]) + line[code[0]:code[1]])
			end = code[1]
		}
		lines[i] = b.String() + render.EscapeLines(line[end:])
	}
	return lines
}

// keys returns the help.
func (m *model) keys() []string {
	keys := []string{
		"↑ ↓ j k      move",
		"PgUp PgDn    a page",
		"Home End     the first, the last",
		"3, 3+2       the line of that number",
		"/            find: every word that you type",
		"Space b      scroll the preview",
	}
	for _, v := range m.list.Views {
		keys = append(keys, fmt.Sprintf("%-12s %s", v.Key, v.About))
	}
	return append(keys, "Enter        choose", "Esc q        leave; nothing changes")
}
