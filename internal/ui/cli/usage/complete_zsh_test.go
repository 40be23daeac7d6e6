//go:build !windows

package usage_test

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

// TestZshCompletion types lines with a TAB in them, and compares the line that results. zsh
// completes only in its line editor, so it runs in a pseudo-terminal.
func TestZshCompletion(t *testing.T) {
	zsh, err := exec.LookPath("zsh")
	if err != nil {
		t.Skip("no zsh here")
	}
	dir, environ := workshop(t)
	for _, loaded := range []string{
		`fpath=(` + dir + ` $fpath); compinit -u -D`,
		`compinit -u -D; source ` + dir + `/_git-checkpoint`,
	} {
		process := exec.Command(zsh, "-f", "-i")
		process.Dir, process.Env = dir, environ
		keys, err := pty.StartWithSize(process, &pty.Winsize{Rows: 24, Cols: 80})
		if err != nil {
			t.Skipf("no pseudo-terminal: %v", err)
		}
		go func() { _, _ = io.Copy(io.Discard, keys) }()
		line := filepath.Join(dir, "line")
		typed(t, keys, "autoload -Uz compinit; "+loaded+"\nshow () { print -r -- \"$BUFFER\" >"+line+".new; mv "+line+".new "+line+"; BUFFER= }; zle -N show; bindkey '^P' show\n")
		for _, c := range []struct{ typed, want string }{
			{"git-checkpoint cr\t", "git-checkpoint create "},
			{"git-checkpoint create --sess\tal\t", "git-checkpoint create --session=alpha "},
			{"git-checkpoint diff demo:\t", "git-checkpoint diff demo:3 "},
			{"git checkpoint diff --session be\tb\t", "git checkpoint diff --session beta beta:3 "},
			{"git -C . checkpoint save --on-fail r\t", "git -C . checkpoint save --on-fail rollback "},
			{"git checkpoint session --all sta\t-w g\t", "git checkpoint session --all start -w go-team "},
			{"git checkpoint diff ';t\t", "git checkpoint diff ';touch harm' "},
		} {
			_ = os.Remove(line)
			typed(t, keys, c.typed+"\x10")
			if got := appeared(line); got != c.want {
				t.Errorf("%s: %q: got %q, want %q", loaded, c.typed, got, c.want)
			}
		}
		_ = process.Process.Kill()
		_ = process.Wait()
		_ = keys.Close()
	}
}

func typed(t *testing.T, keys io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(keys, text); err != nil {
		t.Fatal(err)
	}
}

func appeared(file string) string {
	for range 2000 {
		if text, err := os.ReadFile(file); err == nil {
			return strings.TrimSuffix(string(text), "\n")
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "nothing within 20 seconds"
}
