package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// Page calls show with a writer that leads to the pager, and waits until the user has left the
// pager. The pager is chosen as in git: GIT_PAGER, else configured (core.pager, or nil if that is
// not set), else PAGER, else less. There is none if the result is empty or "cat", or if stdout is
// not a terminal.
//
// The pager starts at the first byte written, so that an error of show before that appears as
// usual. It is not an error if the user leaves the pager before show is done.
func (t *Terminal) Page(ctx context.Context, configured *string, show func(io.Writer) error) error {
	command := t.pager(configured)
	if command == "" {
		return show(t.Out)
	}
	p := &paged{terminal: t, command: command}
	err := show(p)
	p.wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case p.quit:
		return nil
	}
	return err
}

// pager returns the command of the pager, or "" for none.
func (t *Terminal) pager(configured *string) string {
	if !t.OutTerminal {
		return ""
	}
	command, ok := t.LookupEnv("GIT_PAGER")
	if !ok && configured != nil {
		command, ok = *configured, true
	}
	if !ok {
		command, ok = t.LookupEnv("PAGER")
	}
	if !ok {
		command = "less"
	}
	if command == "cat" {
		return ""
	}
	return command
}

// paged is the writer that Page passes to show.
type paged struct {
	terminal *Terminal
	command  string
	process  *exec.Cmd
	pipe     io.WriteCloser
	plain    bool // the pager failed to start; write to the terminal
	quit     bool // the user left the pager
}

// errQuit makes show stop writing. Page does not return it.
var errQuit = errors.New("the pager was closed")

func (p *paged) Write(b []byte) (int, error) {
	if p.process == nil && !p.plain {
		if err := p.start(); err != nil {
			// As in git: warn and show the text without a pager.
			p.plain = true
			_, _ = fmt.Fprintf(p.terminal.Err, "warning: starting the pager: %q\n", err.Error())
		}
	}
	if p.plain {
		return p.terminal.Out.Write(b)
	}
	n, err := p.pipe.Write(b)
	if err != nil {
		p.quit = true
		return n, errQuit
	}
	return n, nil
}

// start starts the pager. It sets the same defaults as git for less and lv, unless the user set the
// variables: quit if the text fits on a screen, show colors, leave the text on the screen.
func (p *paged) start() error {
	process := shellCommand(p.command)
	process.Stdout, process.Stderr = p.terminal.Out, p.terminal.Err
	process.Env = p.terminal.Environ
	for _, usual := range []string{"LESS=FRX", "LV=-c"} {
		key, _, _ := strings.Cut(usual, "=")
		if _, set := p.terminal.LookupEnv(key); !set {
			// Clip the slice, so that append copies it: it may be the Environ of the terminal.
			process.Env = append(process.Env[:len(process.Env):len(process.Env)], usual)
		}
	}
	pipe, err := process.StdinPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	p.process, p.pipe = process, pipe
	return nil
}

// wait closes the pipe and waits until the user leaves the pager. The pager is never killed, not
// even after Ctrl+C, since it would leave the terminal in raw mode. Its exit code means nothing
// here.
func (p *paged) wait() {
	if p.process == nil {
		return
	}
	_ = p.pipe.Close()
	_ = p.process.Wait()
}

// shellCommand returns a command that runs through a shell if it contains characters with a meaning
// for a shell, and otherwise directly, so that a missing program is detected. On Windows without a
// shell the words are passed as they are.
func shellCommand(command string) *exec.Cmd {
	if !strings.ContainsAny(command, "|&;<>()$`\\\"' \t\n*?[#~=%") {
		return exec.Command(command)
	}
	shell, err := exec.LookPath("sh")
	if words := strings.Fields(command); err != nil && len(words) > 0 {
		return exec.Command(words[0], words[1:]...)
	}
	return exec.Command(shell, "-c", command)
}
