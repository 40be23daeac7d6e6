// Package pick is a full-screen list from which the user chooses a line, with a preview of the line
// under the cursor. It knows nothing of what is listed: List brings the lines and the previews.
// Choose runs a bubbletea program, in which Update changes the model for each key and View draws
// it. Start reading with List and model.
package pick

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Errors of Choose when the user chose nothing.
var (
	ErrQuit        = errors.New("nothing was chosen")
	ErrInterrupted = errors.New("interrupted") // Ctrl+C, which is a key in raw mode and sends no signal
)

// List is what the user chooses from. Keys and Lines have the same order and length.
type List struct {
	Question string
	Keys     []string                          // what the user types to jump to a line, such as "3"
	Lines    func(width int) ([]string, error) // rendered for a width in columns; they may contain color codes
	Views    []View                            // at least one; the first is shown at the beginning
	Safe     func(text string) string          // escapes what a terminal would obey; it gets no color codes
}

// View is one kind of preview. Show returns its text for an item at a width in columns, possibly
// with colors.
type View struct {
	Key, Name string // the key that switches to it, and its name in the last line
	About     string // for the help
	Show      func(ctx context.Context, item, width int) (string, error)
}

// Choose shows the list until the user chooses a line, and returns its index. It returns ErrQuit or
// ErrInterrupted if the user left, and the cause of ctx if that ended.
func Choose(ctx context.Context, list List, in, out *os.File, environ []string) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &model{list: list, ctx: ctx, chosen: -1, seen: map[place]string{}}
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment(environ), tea.WithoutSignalHandler(), tea.WithFPS(30)).Run()
	switch {
	case m.err != nil:
		return 0, m.err
	case m.chosen >= 0:
		return m.chosen, nil
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err == nil:
		err = ErrQuit
	}
	return 0, err
}

// place identifies a preview: the index of the item, the index of the view, and the width.
type place struct{ item, view, width int }

// previewed is the message that a preview has been loaded.
type previewed struct {
	place
	text string
}

// model is the state of the screen. Only Update and what it calls change it.
type model struct {
	list   List
	ctx    context.Context //nolint:containedctx // bubbletea's commands take none
	width  int
	height int

	lines  []string
	shown  []int // indexes of the lines that match the filter
	cursor int   // index in shown
	top    int   // index in shown of the first line on the screen
	filter string
	typing bool   // keys go to the filter
	jump   string // the digits typed so far
	view   int    // index in List.Views
	scroll int    // first line of the preview on the screen
	help   bool
	seen   map[place]string // previews that were loaded; never discarded
	busy   bool             // a preview is being loaded
	chosen int              // index of the chosen line, or -1
	err    error
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		if m.lines, m.err = m.list.Lines(m.listWidth()); m.err != nil {
			return m, tea.Quit
		}
		m.find()
	case previewed:
		m.seen[msg.place], m.busy = msg.text, false
	case tea.KeyPressMsg:
		if quit := m.press(msg); quit {
			return m, tea.Quit
		}
	case tea.PasteMsg:
		if m.typing {
			m.filter += msg.Content
			m.find()
		}
	case tea.MouseWheelMsg:
		m.wheel(msg.Mouse())
	case tea.MouseClickMsg:
		at := msg.Mouse()
		if row := m.top + at.Y - 1; m.inList(at.X, at.Y) && row < len(m.shown) {
			m.move(row - m.cursor)
		}
	}
	return m, m.load()
}

// load starts loading the preview under the cursor, unless another one is being loaded: a held-down
// key must not start one for each line that it passes. The message previewed leads here again.
func (m *model) load() tea.Cmd {
	at, ok := m.wanted()
	if _, known := m.seen[at]; !ok || known || m.busy || m.lines == nil {
		return nil
	}
	m.busy = true
	show := m.list.Views[at.view].Show
	return func() tea.Msg {
		text, err := show(m.ctx, at.item, at.width)
		if err != nil {
			text = strings.TrimSpace(text + "\n" + err.Error())
		}
		return previewed{at, text}
	}
}

// wanted identifies the preview under the cursor, and is false for an empty list.
func (m *model) wanted() (place, bool) {
	if len(m.shown) == 0 {
		return place{}, false
	}
	return place{m.shown[m.cursor], m.view, m.previewWidth()}, true
}

// press handles a key and reports whether to leave the program.
func (m *model) press(key tea.KeyPressMsg) (quit bool) {
	pressed := key.String()
	if m.typing && m.typed(key) {
		return false
	}
	if m.help && pressed != "ctrl+c" {
		m.help = false
		return false
	}
	if text := key.Text; text != "" && strings.Trim(text, "0123456789+.") == "" {
		m.jumpTo(text)
		return false
	}
	m.jump = ""
	switch pressed {
	case "enter":
		if len(m.shown) > 0 {
			m.chosen = m.shown[m.cursor]
		}
		return len(m.shown) > 0
	case "ctrl+c":
		m.err = ErrInterrupted
		return true
	// Escape leaves the filter first, then the program.
	case "esc":
		if m.filter == "" {
			return true
		}
		m.filter = ""
		m.find()
	case "q", "ctrl+d":
		return true
	case "/":
		m.typing = true
	case "?":
		m.help = true
	case "space", "ctrl+f", "J":
		m.scrollBy(m.previewHeight() / 2)
	case "b", "ctrl+b", "K":
		m.scrollBy(-m.previewHeight() / 2)
	default:
		if i := slices.IndexFunc(m.list.Views, func(v View) bool { return v.Key == pressed }); i >= 0 {
			m.view, m.scroll = i, 0
		} else {
			m.move(m.way(pressed))
		}
	}
	return false
}

// way returns by how many lines a key moves the cursor.
func (m *model) way(pressed string) int {
	switch pressed {
	case "up", "k", "ctrl+p":
		return -1
	case "down", "j", "ctrl+n":
		return 1
	case "pgup":
		return -m.listHeight()
	case "pgdown":
		return m.listHeight()
	case "home", "g":
		return -len(m.shown)
	case "end", "G":
		return len(m.shown)
	}
	return 0
}

// typed handles a key while the filter is typed. It returns false if the key has its usual meaning.
func (m *model) typed(key tea.KeyPressMsg) bool {
	switch pressed := key.String(); {
	case pressed == "esc":
		m.typing, m.filter = false, ""
	case pressed == "enter" && len(m.shown) != 1:
		m.typing = false
	case pressed == "backspace":
		r := []rune(m.filter)
		m.filter = string(r[:max(0, len(r)-1)])
	case pressed == "ctrl+u":
		m.filter = ""
	case key.Text != "":
		m.filter += key.Text
	default:
		return false
	}
	m.find()
	return true
}

// jumpTo moves to the line whose key is, or begins with, the digits typed so far.
func (m *model) jumpTo(text string) {
	m.jump += text
	for _, match := range []func(key string) bool{
		func(key string) bool { return key == m.jump },
		func(key string) bool { return strings.HasPrefix(key, m.jump) },
	} {
		if i := slices.IndexFunc(m.shown, func(item int) bool { return match(m.list.Keys[item]) }); i >= 0 {
			m.move(i - m.cursor)
			return
		}
	}
	if m.jump != text { // no such key: take the last character as the beginning of another one
		m.jump = ""
		m.jumpTo(text)
	}
}

var colours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;]*m`) })

// find applies the filter: it shows the lines that contain every word, and keeps the cursor on its
// item.
func (m *model) find() {
	was, had := m.wanted()
	m.shown, m.cursor, m.top = m.shown[:0], 0, 0
	words := strings.Fields(strings.ToLower(m.filter))
	for i, line := range m.lines {
		plain := strings.ToLower(m.list.Keys[i] + " " + colours().ReplaceAllString(line, ""))
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(plain, w) }) {
			if had && was.item == i {
				m.cursor = len(m.shown)
			}
			m.shown = append(m.shown, i)
		}
	}
	m.scroll = 0
	m.move(0)
}

// move moves the cursor, and scrolls the list so that it is visible.
func (m *model) move(by int) {
	m.cursor = max(0, min(m.cursor+by, len(m.shown)-1))
	if by != 0 {
		m.scroll = 0
	}
	m.top = max(m.cursor-m.listHeight()+1, min(m.top, m.cursor))
}

// scrollBy scrolls the preview.
func (m *model) scrollBy(lines int) {
	at, ok := m.wanted()
	if ok {
		m.scroll = max(0, min(m.scroll+lines, len(m.preview(at))-m.previewHeight()))
	}
}

func (m *model) wheel(at tea.Mouse) {
	const step = 3
	by := 0
	switch at.Button {
	case tea.MouseWheelUp:
		by = -1
	case tea.MouseWheelDown:
		by = 1
	}
	if m.inList(at.X, at.Y) {
		m.move(by)
	} else {
		m.scrollBy(step * by)
	}
}

// The layout: a line with the question, the list with the preview beside or below it, a line of
// keys.
const (
	besideFrom = 100 // minimum width for a preview beside the list, in columns
	bar        = 3   // columns between list and preview
	ruler      = 1   // lines between list and preview, if that is below
	frame      = 2   // the first and the last line
)

func (m *model) beside() bool { return m.width >= besideFrom }

func (m *model) listWidth() int {
	if m.beside() {
		return m.width * 9 / 20
	}
	return m.width
}

// listHeight returns the rows of the list. Below each other, the list takes at most half of the
// screen.
func (m *model) listHeight() int {
	if m.beside() {
		return max(1, m.height-frame)
	}
	return max(1, min(len(m.shown), (m.height-frame-ruler)/2))
}

func (m *model) previewWidth() int {
	if m.beside() {
		return m.width - m.listWidth() - bar
	}
	return m.width
}

func (m *model) previewHeight() int {
	if m.beside() {
		return max(1, m.height-frame)
	}
	return max(1, m.height-frame-ruler-m.listHeight())
}

// inList reports whether a position on the screen is in the list.
func (m *model) inList(x, y int) bool {
	return y >= 1 && y <= m.listHeight() && (!m.beside() || x < m.listWidth())
}

// The escape codes of the screen's own parts.
const (
	bold    = "\x1b[1m"
	dim     = "\x1b[2m"
	reverse = "\x1b[7m"
	reset   = "\x1b[m"
)

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen, v.MouseMode = true, tea.MouseModeCellMotion
	// The size of the terminal is not known yet.
	if m.lines == nil {
		return v
	}
	rows := []string{m.first()}
	list, preview := m.listRows(), m.previewRows()
	if m.help {
		rows = append(append(rows, m.keys()...), make([]string, max(0, m.height))...)[:max(0, m.height-1)]
	} else if m.beside() {
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
		first += "  /" + m.list.Safe(m.filter)
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
		rows[0] = dim + "nothing here matches" + reset
	}
	return rows
}

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

// preview returns the lines of a preview. Color codes stay, and everything between them is escaped.
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
			b.WriteString(m.list.Safe(line[end:code[0]]) + line[code[0]:code[1]])
			end = code[1]
		}
		lines[i] = b.String() + m.list.Safe(line[end:])
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
