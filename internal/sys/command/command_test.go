//go:build unix

package command

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func sh(script string) Command {
	return Command{Args: []string{"sh", "-c", script}, Env: os.Environ(), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
}

// The exit code is that of the command, or what shells make of the signal that ended it.
func TestCodes(t *testing.T) {
	for script, want := range map[string]End{
		"exit 0": {Exited, 0}, "exit 7": {Exited, 7}, "kill -KILL $$": {Exited, 128 + int(syscall.SIGKILL)},
	} {
		if got, err := sh(script).Run(nil); err != nil || got != want {
			t.Errorf("%s: %+v, %v", script, got, err)
		}
	}
}

// Arguments are passed on unchanged, and nothing is added to the environment.
func TestArguments(t *testing.T) {
	args := []string{"a b", "$HOME", "*", "", "'"}
	c := sh(`printf '<%s>' "$@"; echo "$ONLY"`)
	c.Args, c.Env = append(append(c.Args, "sh"), args...), []string{"PATH=" + os.Getenv("PATH"), "ONLY=this"}
	if _, err := c.Run(nil); err != nil {
		t.Fatal(err)
	}
	if got, want := c.Out.(*bytes.Buffer).String(), "<"+strings.Join(args, "><")+">this\n"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// A command whose time is over is told to end, and is killed if it does not.
func TestTimeout(t *testing.T) {
	for _, script := range []string{"exec sleep 60", "trap '' TERM; while :; do sleep 0.05; done"} {
		c := sh(script)
		c.Timeout, c.Grace = 50*time.Millisecond, 50*time.Millisecond
		if got, err := c.Run(nil); err != nil || got != (End{TimedOut, codeTimedOut}) {
			t.Errorf("%s: %+v, %v", script, got, err)
		}
	}
}

// A signal to this process is passed on and interrupts the command.
func TestPassedOn(t *testing.T) {
	signals := make(chan os.Signal, 1)
	ready := filepath.Join(t.TempDir(), "ready")
	go func() {
		for _, err := os.Stat(ready); err != nil; _, err = os.Stat(ready) {
			time.Sleep(time.Millisecond)
		}
		signals <- syscall.SIGTERM
	}()
	if got, err := sh("trap 'exit 3' TERM; : >'" + ready + "'; while :; do sleep 0.05; done").Run(signals); err != nil || got != (End{Interrupted, codeTerminated}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// Output beyond the limit is not read, and the command is not waited for.
func TestBeginning(t *testing.T) {
	said, err := Beginning(t.Context(), 6, os.Environ(), "sh", "-c", "while echo y; do :; done")
	if said != "y\ny\ny\n" || err != nil {
		t.Errorf("%q, %v", said, err)
	}
	if said, err = Beginning(t.Context(), 100, os.Environ(), "sh", "-c", "echo wrong >&2; exit 3"); said != "wrong\n" || err != nil {
		t.Errorf("%q, %v", said, err)
	}
	if said, err = Beginning(t.Context(), 100, os.Environ(), "sh", "-c", "exit 1"); said != "" || err == nil {
		t.Errorf("%q, %v", said, err)
	}
}

// A program that cannot be run has the exit code that shells give.
func TestFind(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]int{"no-such-program-anywhere": codeNotFound, plain + "-not": codeNotFound, plain: codeCannotRun} {
		err := Find(program)
		if err == nil || CodeOf(err) != want {
			t.Errorf("%s: %v, %d", program, err, CodeOf(err))
		}
	}
	if err := Find("sh"); err != nil {
		t.Error(err)
	}
	if _, err := (Command{Args: []string{plain}}).Run(nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
}
