package chat

import (
	"strings"
	"testing"
)

func TestInWords(t *testing.T) {
	for text, want := range map[string]string{
		"`git checkpoint rollback 2` goes back":               "*rollback:2 goes back",
		"git checkpoint rollback cp-01-init -y":               "*rollback:cp-01-init",
		"offers git checkpoint rebuild 3":                     "offers *cp-rebuild:3",
		"`git checkpoint list` shows the checkpoints":         "*cp-list shows the checkpoints",
		"git checkpoint undo -y takes it back":                "*undo takes it back",
		"git checkpoint rollback --continue finishes it":      "*continue finishes it",
		"`git checkpoint rollback --abort`":                   "*abort",
		"`git checkpoint session list` shows the sessions":    "`git checkpoint session list` in a terminal shows the sessions",
		"`git checkpoint undo 2` undoes two":                  "*undo:2 undoes two",
		"`git checkpoint rollback 2 --force` goes on":         "*rollback:2 --force goes on",
		"`git checkpoint rollback 2 --chat`":                  "`git checkpoint rollback 2 --chat` in a terminal",
		"git checkpoint rollback other:3 -y":                  "*rollback:other:3",
		"git checkpoint rollback NAME":                        "git checkpoint rollback NAME",
		"say `git checkpoint -y`":                             "say `git checkpoint -y` in a terminal",
		"`git checkpoint`":                                    "`git checkpoint`",
		"`git checkpoint delete 2` and `git checkpoint redo`": "*delete:2 and *redo",
	} {
		if got := inWords(text); got != want {
			t.Errorf("%q is %q in a chat, want %q", text, got, want)
		}
	}
}

// *help names all that may be typed.
func TestHelpIsComplete(t *testing.T) {
	for _, f := range forms() {
		for _, words := range f.Words {
			if !strings.Contains(help, words) {
				t.Errorf("*help does not name %s", words)
			}
		}
	}
}
