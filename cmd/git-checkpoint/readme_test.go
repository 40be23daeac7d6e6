//go:build !windows

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"git-checkpoint/internal/test/scripttest"
)

// typed is one command of the tour and what the terminal shows for it.
type typed struct{ command, shown string }

// readme and longTour are the documents with a tour, as paths from docs.
var readme, longTour = filepath.Join("..", "README.md"), "tour.md"

// tour is what a document shows in its blocks ```console tour, in that order.
func tour(t *testing.T, file string) (commands []typed) {
	t.Helper()
	_, blocks := document(t, file)
	for _, b := range blocks {
		if b.kind != "tour" {
			continue
		}
		for line := range strings.Lines(b.text) {
			if command, is := strings.CutPrefix(line, "$ "); is {
				commands = append(commands, typed{command: strings.TrimSuffix(command, "\n")})
			} else if len(commands) == 0 {
				t.Fatalf("the tour shows %q before any command", line)
			} else {
				commands[len(commands)-1].shown += line
			}
		}
	}
	return commands
}

// The tours show what a terminal shows to somebody who types them, with a name and an address configured
// and without.
func TestReadmeTour(t *testing.T) { follows(t, readme) }

func TestLongTour(t *testing.T) { follows(t, longTour) }

// What the README says next can be typed after its tour.
func TestReadmeGoesOn(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(data), "`git checkpoint` alone says")
	after, _, found := strings.Cut(after, "Continue on another machine")
	commands := tour(t, readme)
	for _, m := range regexp.MustCompile("(?m)^    (git .*?)(?:  +#.*)?$|`(git checkpoint (?:restore|revert) [^`]*)`").FindAllStringSubmatch(after, -1) {
		if !strings.Contains(m[1], "agent add") {
			commands = append(commands, typed{command: m[1] + m[2] + " || echo FAILED"})
		}
	}
	shown := perform(t, commands, []string{"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@x"})
	if !found || len(shown) != len(commands) || len(commands) < 18 {
		t.Fatalf("%d commands of %d ran", len(shown), len(commands))
	}
	for i, text := range shown {
		if strings.Contains(text, "FAILED") {
			t.Errorf("%s\n%s", commands[i].command, text)
		}
	}
}

// The README stays short.
func TestReadmeIsShort(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if lines := bytes.Count(data, []byte("\n")); err != nil || lines > 160 {
		t.Errorf("the README has %d lines, %v", lines, err)
	}
}

// follows runs the tour of a document.
func follows(t *testing.T, file string) {
	t.Helper()
	commands := tour(t, file)
	if len(commands) < 10 {
		t.Fatalf("the tour has %d commands", len(commands))
	}
	for name, identity := range map[string][]string{
		"nobody":   nil,
		"somebody": {"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_COMMITTER_NAME=A U Thor", "GIT_COMMITTER_EMAIL=author@example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := perform(t, commands, identity)
			if len(shown) != len(commands) {
				t.Fatalf("%d commands of %d ran:\n%s", len(shown), len(commands), shown)
			}
			if identity == nil && os.Getenv("UPDATE_SCRIPTS") != "" {
				rewrite(t, file, shown)
				return
			}
			for i, c := range commands {
				same(t, "$ "+c.command, scripttest.Scrubbed(c.shown), scripttest.Scrubbed(shown[i]))
			}
		})
	}
}

// rewrite puts what was shown into the document.
func rewrite(t *testing.T, file string, shown []string) {
	t.Helper()
	file = filepath.Join("..", "..", "docs", file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := fenced.ReplaceAllStringFunc(string(data), func(block string) string {
		first, rest, _ := strings.Cut(block, "\n")
		if first != "```console tour" {
			return block
		}
		out := first + "\n"
		for line := range strings.Lines(rest) {
			if strings.HasPrefix(line, "$ ") {
				out, shown = out+line+shown[0], shown[1:]
			}
		}
		return out + "```"
	})
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// mark comes before what each command shows.
const mark = "\x01"

// perform types the commands at a terminal of 96 columns, in one shell and an empty
// directory, a minute between them, and a "y" at each question.
func perform(t *testing.T, commands []typed, identity []string) []string {
	t.Helper()
	dir := t.TempDir()
	var lines strings.Builder
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for _, c := range commands {
		stamp := now.Format(time.RFC3339)
		fmt.Fprintf(&lines, "printf '\\001'\nexport GIT_CHECKPOINT_NOW=%s GIT_AUTHOR_DATE=%s GIT_COMMITTER_DATE=%s\n%s\n", stamp, stamp, stamp, c.command)
		now = now.Add(time.Minute)
	}
	shell := exec.CommandContext(t.Context(), "sh", "-c", lines.String())
	shell.Dir = dir
	shell.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir),
		"LC_ALL=C.UTF-8", "TZ=UTC", "TERM=dumb", "PAGER=cat", "TMPDIR=" + dir,
	}, identity...)
	screen, err := pty.StartWithSize(shell, &pty.Winsize{Rows: 50, Cols: 96})
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer screen.Close()
	shown := follow(t, screen)
	if err := shell.Wait(); err != nil {
		t.Errorf("the last command: %v", err)
	}
	shown = strings.ReplaceAll(shown, "\r\n", "\n")
	return strings.Split(shown, mark)[1:]
}

// follow reads what is shown to the end, and answers questions.
func follow(t *testing.T, screen *os.File) string {
	t.Helper()
	var shown bytes.Buffer
	for buffer := make([]byte, 4096); ; {
		n, err := screen.Read(buffer)
		shown.Write(buffer[:n])
		if n > 0 && bytes.HasSuffix(shown.Bytes(), []byte("[y/N] ")) {
			if _, err := screen.WriteString("y\n"); err != nil {
				t.Fatal(err)
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) {
			return shown.String()
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
