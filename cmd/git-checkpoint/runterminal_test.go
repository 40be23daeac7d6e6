package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// longestTalk bounds a test at a terminal.
const longestTalk = 20 * time.Second

// talk runs a shell command at a terminal and gives an answer at each question, then
// the end of the input; a "\x03" is Ctrl+C, for whoever runs there.
func talk(t *testing.T, dir, command, question string, answers ...string) (shown string, code int) {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-c", command)
	shell.Dir = dir
	shell.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir),
		"LC_ALL=C.UTF-8", "TZ=UTC", "TERM=dumb", "TMPDIR=" + dir,
	}
	screen, err := pty.StartWithSize(shell, &pty.Winsize{Rows: 50, Cols: 96})
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer screen.Close()
	slow := time.AfterFunc(longestTalk, func() { screen.Close() })
	defer slow.Stop()
	var all bytes.Buffer
	answers = append(answers, "\x04")
	for buffer, asked := make([]byte, 4096), 0; ; {
		n, err := screen.Read(buffer)
		all.Write(buffer[:n])
		if count := strings.Count(all.String(), question); count > asked && len(answers) > 0 {
			asked = count
			if _, err := screen.WriteString(answers[0]); err != nil {
				t.Fatal(err)
			}
			answers = answers[1:]
		}
		if err != nil {
			break
		}
	}
	var failed *exec.ExitError
	if err := shell.Wait(); errors.As(err, &failed) {
		if code = failed.ExitCode(); code < 0 {
			code = 130 // git ends by the signal that it got too
		}
	} else if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(all.String(), "\r\n", "\n"), code
}

// After a failed step a person may retry, go back, or stop; the exit code is the
// command's.
func TestRunAsks(t *testing.T) {
	for _, c := range []struct {
		about   string
		answers []string
		code    int
		content string
		tries   int
	}{
		{"stop", []string{"s\n"}, 7, "broken\n", 1},
		{"leave", nil, 7, "broken\n", 1},
		{"back", []string{"b\n"}, 7, "two\n", 1},
		{"retry, then back", []string{"r\n", "b\n"}, 7, "two\n", 2},
		{"Ctrl+C at the question", []string{"\x03"}, 130, "broken\n", 1},
	} {
		dir := t.TempDir()
		shown, code := talk(t, dir, `git init -q . && echo two > file && git checkpoint save -q &&
			exec git checkpoint run -- sh -c 'echo "try"; echo broken > file; exit 7'`, "What now?", c.answers...)
		content, err := os.ReadFile(filepath.Join(dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		if code != c.code || string(content) != c.content || strings.Count(shown, "try\n") != c.tries {
			t.Errorf("%s: exit %d, %q: %s", c.about, code, content, shown)
		}
		if !strings.Contains(shown, "What now?") || !strings.Contains(shown, "back to 1 ") {
			t.Errorf("%s: not asked: %s", c.about, shown)
		}
	}
}

// Where work lay around that nobody had checkpointed, a person may go back to exactly that,
// or to the last good checkpoint; so it is with --on-fail rollback too.
func TestRunAsksWhere(t *testing.T) {
	for answer, want := range map[string]string{"s\n": "broken\n", "w\n": "mine\n", "b\n": "two\n"} {
		dir := t.TempDir()
		shown, code := talk(t, dir, `git init -q . && echo two > file && git checkpoint save -q && echo mine > file &&
			exec git checkpoint run --on-fail rollback -- sh -c 'echo broken > file; exit 7'`, "What now?", answer)
		content, err := os.ReadFile(filepath.Join(dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		if code != 7 || string(content) != want {
			t.Errorf("%q: exit %d, %q: %s", answer, code, content, shown)
		}
	}
}

// The command has the terminal: it may ask there itself, and Ctrl+C reaches it and keeps
// what is there.
func TestRunHasTheTerminal(t *testing.T) {
	dir := t.TempDir()
	shown, code := talk(t, dir, `git init -q . && exec git checkpoint run -- sh -c 'test -t 0 && test -t 1 && test -t 2 && printf "name? " && read name && echo "hello $name"'`, "name? ", "world\n")
	if code != 0 || !strings.Contains(shown, "hello world") || !strings.Contains(shown, "Saved 1 \"sh: exit 0\": ") {
		t.Errorf("exit %d: %s", code, shown)
	}
	shown, code = talk(t, dir, `exec git checkpoint run -- sh -c 'echo half > half; printf "wait "; sleep 15'`, "wait ", "\x03")
	if code != 130 || !strings.Contains(shown, "Saved 1+1 ") || strings.Contains(shown, "warning") || !strings.Contains(shown, "interrupted") {
		t.Errorf("exit %d: %s", code, shown)
	}
}
