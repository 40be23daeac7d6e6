package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// gitsCompletion is where Debian and its relatives install git's own completion of bash.
const gitsCompletion = "/usr/share/bash-completion/completions/git"

// At a terminal bash with git's own completion, ours and this program offers values for an
// empty word.
func TestBashCompletesEmptyWords(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	if _, err := os.Stat(gitsCompletion); err != nil {
		t.Skip("git's completion of bash is not installed")
	}
	dir := t.TempDir()
	environ := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir),
		"LC_ALL=C.UTF-8", "TZ=UTC", "TERM=dumb", "TMPDIR=" + dir, "INPUTRC=/dev/null", "HISTFILE=",
	}
	prepare := exec.Command("sh", "-ec", `git init -q -b main .; git remote add origin ../nowhere
		git checkpoint save -q --name init; git checkpoint save -q --name design
		git checkpoint session start -q other; git checkpoint session switch -q main
		git checkpoint completion bash >ours.bash`)
	prepare.Dir, prepare.Env = dir, environ
	if out, err := prepare.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	shell := exec.Command(bash, "--norc", "--noprofile", "-i")
	shell.Dir, shell.Env = dir, environ
	keys, err := pty.StartWithSize(shell, &pty.Winsize{Rows: 24, Cols: 200})
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	go func() { _, _ = io.Copy(io.Discard, keys) }()
	defer func() {
		_ = shell.Process.Kill()
		_ = shell.Wait()
		_ = keys.Close()
	}()
	// readline puts all candidates into the line, and hands that to show.
	send := func(text string) {
		t.Helper()
		if _, err := io.WriteString(keys, text); err != nil {
			t.Fatal(err)
		}
	}
	send("source " + gitsCompletion + "; source ./ours.bash; show () { printf '%s' \"$READLINE_LINE\" >line.new; mv line.new line; READLINE_LINE=; READLINE_POINT=0; }\n")
	send("bind '\"\\C-o\": insert-completions'; bind -x '\"\\C-g\": show'\n")
	for _, c := range []struct {
		typed string
		want  []string
	}{
		{"git checkpoint rollback ", []string{" 2", " 1", " latest"}},
		{"git checkpoint diff ", []string{" 2", " 1"}},
		{"git checkpoint show --session other ", nil},
		{"git checkpoint session switch ", []string{" main", " other"}},
		{"git checkpoint list --session ", []string{" main", " other"}},
		{"git checkpoint list --trigger ", []string{" manual", " safety"}},
		{"git checkpoint list --status ", []string{" in_progress"}},
		{"git checkpoint workflow show ", []string{" go-team"}},
		{"git checkpoint push ", []string{" origin"}},
	} {
		file := filepath.Join(dir, "line")
		_ = os.Remove(file)
		send(c.typed + "\x0f\x07")
		got := written(file)
		for _, want := range c.want {
			if !strings.Contains(got+" ", want+" ") {
				t.Errorf("%q: %q is not among %q", c.typed, want, got)
			}
		}
		if len(c.want) == 0 && strings.TrimSpace(got) != strings.TrimSpace(c.typed) {
			t.Errorf("%q: got %q", c.typed, got)
		}
	}
}

// written waits for a file; how long it takes is no part of the test.
func written(file string) string {
	for range 6000 {
		if text, err := os.ReadFile(file); err == nil {
			return string(text)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "nothing"
}
