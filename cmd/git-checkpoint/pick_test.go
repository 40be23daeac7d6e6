package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const threeSteps = `git init -q . && for i in one two three; do echo $i > file && git checkpoint save -q -m "$i"; done && `

// A person goes back to what was chosen on the whole screen, and Esc leaves everything as it was. A
// program that reads stdout gets the id alone.
func TestPicks(t *testing.T) {
	for _, c := range []struct {
		about, command, keys string
		code                 int
		content, shown       string
	}{
		{"by number", "exec env TERM=xterm git checkpoint rollback -y", "1\r", 0, "one\n", "Undo:"},
		{"by moving", "exec env TERM=xterm git checkpoint rollback -y", "\x1b[B\r", 0, "two\n", "Undo:"},
		{"found", "exec env TERM=xterm git checkpoint rollback -y", "/one\r", 0, "one\n", "Undo:"},
		{"left", "exec env TERM=xterm git checkpoint rollback -y", "q", 4, "three\n", "nothing was chosen"},
		{"Ctrl+C", "exec env TERM=xterm git checkpoint rollback -y", "\x03", 130, "three\n", "interrupted"},
		{"for another program", `id=$(TERM=xterm git checkpoint pick) && echo "<${id%%-2*}>"`, "2\r", 0, "three\n", "<cp-02>"},
		{"for show", "exec env TERM=xterm git checkpoint show --pick --get message", "1\r", 0, "three\n", "one\n"},
	} {
		dir := t.TempDir()
		shown, code := talk(t, dir, threeSteps+c.command, "Esc leave", c.keys)
		content, err := os.ReadFile(filepath.Join(dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		if code != c.code || string(content) != c.content || !strings.Contains(shown, c.shown) {
			t.Errorf("%s: exit %d, %q: %q", c.about, code, content, shown)
		}
		if strings.Count(shown, "\x1b[?1049h") != 1 || strings.Count(shown, "\x1b[?1049l") != 1 {
			t.Errorf("%s: the screen was not given back: %q", c.about, shown)
		}
	}
}
