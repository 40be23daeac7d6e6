package cli_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/screentest"
)

// TestNumberOfBothIsAsked checks that a number which an agent's session and the person's have is answered with both
// where it would change something, and else for the active session, with a word on the other at a terminal; and that it
// means the active session's where the person switched to it.
func TestNumberOfBothIsAsked(t *testing.T) {
	repository(t)
	for i := range 2 {
		if err := os.WriteFile("file", fmt.Append(nil, i), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, screen := at(context.Background(), screentest.NewPipes(""), "create", "--session", "claude", "--workflow", "agent", "--step", fmt.Sprint(i+1), "-m", fmt.Sprint("turn ", i+1)); code != 0 {
			t.Fatal(screen.Stderr())
		}
	}
	s, err := checkpoint.Open(context.Background(), checkpoint.Options{Env: os.Environ(), Now: time.Now, Warn: func(string) {}})
	if err == nil {
		err = checkpoint.Adopt(s, "claude")
		s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"show", "1"}, {"diff", "1"}} {
		if code, screen := at(context.Background(), screentest.New(), args...); code != 0 || !strings.Contains(screen.Stderr(), "a step of claude, which an agent began, and of main: `main:1` \"the first\", ") {
			t.Errorf("%q: exit %d: %s", args, code, screen.Stderr())
		}
	}
	for i, args := range [][]string{
		{"rollback", "1"}, {"rollback", "1", "-y"}, {"revert", "1", "-y"}, {"restore", "1", "-y", "--", "file"}, {"delete", "1", "-y"}, {"delete", "--line", "1", "-y"}, {"fork", "1"},
	} {
		screen := screentest.New("y")
		if i > 0 {
			screen = screentest.NewPipes("")
		}
		code, screen := at(context.Background(), screen, args...)
		if said := screen.Stderr(); code != 4 || !strings.Contains(said, "`claude:1` \"turn 1\", ") || !strings.Contains(said, "`main:1` \"the first\", ") {
			t.Errorf("%q: exit %d: %s", args, code, said)
		}
	}
	for _, args := range [][]string{{"show", "main:1"}, {"show", "claude:1"}, {"show", "1", "--session", "claude"}} {
		if code, screen := at(context.Background(), screentest.New(), args...); code != 0 {
			t.Errorf("%q: %s", args, screen.Stderr())
		}
	}
	if _, screen := at(context.Background(), screentest.NewPipes(""), "show", "1", "--get", "message"); screen.Stdout() != "turn 1\n" {
		t.Errorf("a script gets %q", screen.Stdout())
	}
	if code, screen := at(context.Background(), screentest.NewPipes(""), "session", "switch", "claude"); code != 0 {
		t.Fatal(screen.Stderr())
	}
	if _, screen := at(context.Background(), screentest.New(), "show", "1", "--get", "message"); screen.Stdout() != "turn 1\n" {
		t.Errorf("after a switch %q %s", screen.Stdout(), screen.Stderr())
	}
}

// TestPlanShowsDiff checks that "d" at the question of a rollback or an undo shows what it changes in files, and asks
// again.
func TestPlanShowsDiff(t *testing.T) {
	repository(t)
	if err := os.WriteFile("new file", []byte("mine\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"rollback", "1"}, {"undo"}} {
		code, screen := at(context.Background(), screentest.New("d", "D", "y"), args...)
		asked := strings.Count(screen.Stderr(), "(d shows the diff) Continue? [y/N] ")
		shown := strings.Count(screen.Stdout(), "diff --git a/file b/file")
		if code != 0 || asked != 3 || shown != 2 {
			t.Errorf("%q: exit %d, asked %d, shown %d: %s%s", args, code, asked, shown, screen.Stdout(), screen.Stderr())
		}
	}
	if code, screen := at(context.Background(), screentest.New("d"), "delete", "1"); code != 4 {
		t.Errorf("exit %d: %s", code, screen.Stderr())
	}
}

// TestDayFitsScreen checks that after a day of sixty checkpoints, three sessions and an agent, list, status and the
// bare command fit a screen of 24 lines at 80 columns with the command that was typed and the next prompt, and say
// where everything is.
func TestDayFitsScreen(t *testing.T) {
	repository(t)
	t.Setenv("GIT_CHECKPOINT_AUTOPACK", "false")
	save := func(content string, args ...string) {
		t.Helper()
		if err := os.WriteFile("file", []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, screen := at(context.Background(), screentest.NewPipes(""), append([]string{"create"}, args...)...); code != 0 {
			t.Fatal(screen.Stderr())
		}
	}
	for i := range 58 {
		save(strings.Repeat("line\n", i), "-m", fmt.Sprintf("step %d: read the code of lists, and make it faster for everybody who has many", i+3))
	}
	for _, other := range []string{"feature-of-the-day", "another-feature"} {
		save(other, "--session", other, "-m", "begun")
	}
	save("agent", "--session", "claude", "--workflow", "agent", "--step", "1", "-m", "please add a list of all that is there to the page")
	for i := range 30 {
		if err := os.WriteFile(fmt.Sprintf("a-new-file-%d", i), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"list"}, {"status"}, {}} {
		for _, width := range []string{"80", "100", "140"} {
			terminal := screentest.New()
			terminal.Environ = append(terminal.Environ, "LINES=24", "COLUMNS="+width)
			code, screen := at(context.Background(), terminal, append(args, "--color=never")...)
			said := screen.Stdout()
			rows := 0
			for line := range strings.Lines(said) {
				rows += 1 + max(0, len([]rune(strings.TrimSpace(line)))-1)/80
			}
			if width != "80" {
				rows = strings.Count(said, "\n")
			}
			if code != 0 || rows > 22 || !strings.Contains(said, "60") || !strings.Contains(said, "3 more sessions: claude ") || !strings.Contains(said, "git checkpoint session switch NAME") {
				t.Errorf("%q at %s: exit %d, %d rows:\n%s", args, width, code, rows, said)
			}
		}
	}
}

// TestSessionShowsMessages checks that session show has the message of each checkpoint, and with --verbose in a
// pipe the labels.
func TestSessionShowsMessages(t *testing.T) {
	repository(t)
	if code, screen := at(context.Background(), screentest.NewPipes(""), "create", "-m", "add a list"); code != 0 {
		t.Fatal(screen.Stderr())
	}
	if _, screen := at(context.Background(), screentest.New(), "session", "show"); !strings.Contains(screen.Stdout(), "add a list") {
		t.Errorf("at a terminal:\n%s", screen.Stdout())
	}
	if _, screen := at(context.Background(), screentest.NewPipes(""), "session", "show"); !strings.Contains(screen.Stdout(), "add a list") {
		t.Errorf("in a pipe:\n%s", screen.Stdout())
	}
	if _, screen := at(context.Background(), screentest.NewPipes(""), "session", "show", "--verbose"); !strings.Contains(screen.Stdout(), "\tcp-01-2") {
		t.Errorf("in a pipe:\n%s", screen.Stdout())
	}
}
