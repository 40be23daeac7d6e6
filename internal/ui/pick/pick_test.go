package pick

import (
	"context"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func pressed(name string) tea.KeyPressMsg {
	for code, key := range map[rune]string{
		tea.KeyDown: "down", tea.KeyUp: "up", tea.KeyEnter: "enter", tea.KeyEscape: "esc", tea.KeyPgDown: "pgdown", tea.KeyEnd: "end", tea.KeyBackspace: "backspace",
	} {
		if key == name {
			return tea.KeyPressMsg{Code: code}
		}
	}
	if name == "ctrl+c" {
		return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// sample lists n checkpoints, the newest first, with previews that say what they are of.
func sample(n int) *model {
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprint(n-i))
	}
	show := func(name string) View {
		return View{Key: name[:1], Name: name, Show: func(_ context.Context, item, width int) (string, error) {
			return fmt.Sprintf("\x1b[32m%s\x1b[m of %s at %d\nthe second line\n\x1b]0;title\x07", name, keys[item], width), nil
		}}
	}
	list := List{
		Question: "Which?", Keys: keys, Views: []View{show("plan"), show("diff")},
		Lines: func(width int) (lines []string) {
			for _, key := range keys {
				lines = append(lines, ansi.Truncate("\x1b[1m"+key+"\x1b[m message "+strings.Repeat(key, 3), width, ""))
			}
			return lines
		},
	}
	return &model{list: list, ctx: context.Background(), chosen: -1, seen: map[place]string{}}
}

// act carries out what a message leads to, and reports whether it ended the program.
func (m *model) act(msg tea.Msg) bool {
	_, cmd := m.Update(msg)
	for cmd != nil {
		next := cmd()
		if _, quit := next.(tea.QuitMsg); quit {
			return true
		}
		_, cmd = m.Update(next)
	}
	return false
}

func (m *model) screen() string { return ansi.Strip(m.View().Content) }

func TestChooses(t *testing.T) {
	for _, c := range []struct {
		keys string
		want int // -1: nothing
	}{
		{"enter", 0},
		{"down down enter", 2},
		{"end enter", 11},
		{"3 enter", 9},
		{"1 2 enter", 0}, // the twelfth is the newest
		{"1 enter", 11},
		{"5 4 enter", 8}, // 54 is none, 4 is one
		{"j j k enter", 1},
		{"/ 7 7 enter", 5}, // only one is left
		{"/ n o n e enter esc enter", 0},
		{"/ 7 7 backspace backspace enter enter", 5}, // the cursor stays where it was
		{"/ q esc q", -1},
		{"esc", -1},
		{"ctrl+c", -1},
		{"? q enter", 0}, // the first key leaves the help
		{"d p x enter", 0},
	} {
		m := sample(12)
		m.act(tea.WindowSizeMsg{Width: 80, Height: 24})
		ended := false
		for _, key := range strings.Fields(c.keys) {
			if ended {
				t.Errorf("%s: it ended before %s", c.keys, key)
			}
			ended = m.act(pressed(key))
		}
		if !ended || m.chosen != c.want {
			t.Errorf("%s: ended %v with %d, want %d", c.keys, ended, m.chosen, c.want)
		}
	}
}

func TestShowsThePreview(t *testing.T) {
	m := sample(30)
	m.act(tea.WindowSizeMsg{Width: 120, Height: 20})
	for _, step := range []struct{ key, want string }{
		{"down", "plan of 29 at 63"}, {"d", "diff of 29"}, {"down", "diff of 28"}, {"?", "leave; nothing changes"}, {"x", "diff of 28"},
	} {
		m.act(pressed(step.key))
		if !strings.Contains(m.screen(), step.want) {
			t.Fatalf("after %s there is no %q in\n%s", step.key, step.want, m.screen())
		}
	}
	if strings.Contains(m.View().Content, "\x1b]0;") {
		t.Error("the terminal would obey what a preview says")
	}
	if !strings.Contains(m.View().Content, "\x1b[32mdiff\x1b[m") {
		t.Error("the preview lost its colours")
	}
	m.act(tea.MouseClickMsg{X: 3, Y: 1, Button: tea.MouseLeft})
	if m.cursor != m.top {
		t.Errorf("a click on the first line leads to %d", m.cursor)
	}
	m.act(tea.WindowSizeMsg{Width: 60, Height: 15})
	if !strings.Contains(m.screen(), "at 60") {
		t.Errorf("after a change of size there is no preview of that width in\n%s", m.screen())
	}
}

// Whatever is typed at whatever size, the screen fits the terminal and the cursor is on a visible
// line.
func TestFitsEveryScreen(t *testing.T) {
	keys := []string{"down", "up", "enter", "esc", "pgdown", "end", "backspace", "/", "?", "1", "3", "j", "k", "d", "p", "b", "G", "g", "世"}
	rapid.Check(t, func(t *rapid.T) {
		m := sample(rapid.IntRange(1, 40).Draw(t, "items"))
		for range 20 {
			if rapid.IntRange(0, 5).Draw(t, "resize") == 0 || m.width == 0 {
				m.act(tea.WindowSizeMsg{Width: rapid.IntRange(1, 160).Draw(t, "width"), Height: rapid.IntRange(1, 40).Draw(t, "height")})
			} else if m.act(pressed(rapid.SampledFrom(keys).Draw(t, "key"))) {
				return
			}
			lines := strings.Split(m.screen(), "\n")
			if len(lines) > m.height {
				t.Fatalf("%d lines on %d", len(lines), m.height)
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > m.width {
					t.Fatalf("%d columns on %d: %q", ansi.StringWidth(line), m.width, line)
				}
			}
			if len(m.shown) > 0 && (m.cursor < m.top || m.cursor >= m.top+m.listHeight()) {
				t.Fatalf("the cursor is at %d, and shown are %d lines from %d", m.cursor, m.listHeight(), m.top)
			}
		}
	})
}
