// Package pick is a full-screen list from which the user chooses a line, with a preview of the line
// under the cursor. It does not depend on what is listed: List supplies the lines and the previews.
// Choose runs a bubbletea program, in which Update changes the model for each key and View
// (screen.go) draws it. Start reading with List and model.
//
// bubbletea calls Update for one message after the other and never at the same time, so that the
// model needs no lock. What may take long, as a preview, runs elsewhere: Update returns it as a
// command (tea.Cmd), bubbletea runs that in a goroutine, and its result comes back as a message.
package pick

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"git-checkpoint/internal/sys/lazy"
	"git-checkpoint/internal/ui/term"
)

// ErrInterrupted is the error of Choose after Ctrl+C, which is a key in raw mode and sends no signal.
var ErrInterrupted = errors.New("interrupted")

// List is what the user chooses from. Keys and Lines have the same order and length.
type List struct {
	Question string
	Keys     []string                 // what the user types to jump to a line, such as "3"
	Lines    func(width int) []string // rendered for a width in columns; they may contain color codes
	Views    []View                   // at least one; the first is shown at the beginning
}

// View is one kind of preview. Show returns its text for an item at a width in columns, possibly
// with colors.
type View struct {
	Key, Name string // the key that switches to it, and its name in the last line
	About     string // for the help
	Show      func(ctx context.Context, item, width int) (string, error)
}

// Choose shows the list until the user chooses a line, and returns its index. It returns
// term.ErrQuit or ErrInterrupted if the user left, and the cause of ctx if that ended.
func Choose(ctx context.Context, list List, in, out *os.File, environ []string) (int, error) {
	// A preview may still be loading when the user has chosen. Nobody waits for it.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &model{list: list, ctx: ctx, chosen: -1, seen: map[place]string{}}
	// The caller handles signals, by ending ctx.
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment(environ), tea.WithoutSignalHandler(), tea.WithFPS(30)).Run()
	switch {
	case m.err != nil:
		return 0, m.err
	case m.chosen >= 0:
		return m.chosen, nil
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err == nil:
		err = term.ErrQuit
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

	lines  []string // what List.Lines returned for the present width; nil: the width is not known yet
	shown  []int    // indexes of the lines that match the filter
	cursor int      // index in shown
	top    int      // index in shown of the first line on the screen
	filter string
	typing bool   // keys go to the filter
	jump   string // the digits typed so far; any other key begins anew
	view   int    // index in List.Views
	scroll int    // first line of the preview on the screen
	help   bool
	seen   map[place]string // previews that were loaded; never discarded, as going back to one is common
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
		// The first message, and again whenever the user resizes the terminal. The lines are
		// rendered for the new width, and previews of the old one are not found any more.
		m.width, m.height = msg.Width, msg.Height
		m.lines = m.list.Lines(m.listWidth())
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
		// The first line of the screen is the question.
		if row := m.top + at.Y - 1; m.inList(at.X, at.Y) && row < len(m.shown) {
			m.move(row - m.cursor)
		}
	}
	// Whatever happened may have put another line under the cursor.
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
		// An error is shown in place of the preview: the line can still be chosen.
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
	// Any key closes the help.
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
	page, all := m.listHeight(), len(m.shown)
	return map[string]int{
		"up": -1, "k": -1, "ctrl+p": -1, "down": 1, "j": 1, "ctrl+n": 1,
		"pgup": -page, "pgdown": page, "home": -all, "g": -all, "end": all, "G": all,
	}[pressed]
}

// typed handles a key while the filter is typed. It returns false if the key has its usual meaning.
func (m *model) typed(key tea.KeyPressMsg) bool {
	switch pressed := key.String(); {
	case pressed == "esc":
		m.typing, m.filter = false, ""
	// With just one line left, Enter does not end the filter but chooses that line.
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

// colours matches the color codes that lines and previews may contain.
var colours = lazy.Pattern(`\x1b\[[0-9;]*m`)

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

// wheel moves the cursor or scrolls the preview, whichever the mouse is over.
func (m *model) wheel(at tea.Mouse) {
	const step = 3
	by := map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[at.Button]
	if m.inList(at.X, at.Y) {
		m.move(by)
	} else {
		m.scrollBy(step * by)
	}
}
