package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// Page runs show with a writer that leads to the pager, and waits until the person has
// left it. The pager is git's: GIT_PAGER, else configured (core.pager, nil when it is
// not set), else PAGER, else less; there is none when that is empty or "cat", or when
// stdout is no terminal. It starts at the first byte, so that an error before it is
// shown as usual. That the person quits early is no error.
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

// paged is the writer that Page hands out.
type paged struct {
	terminal *Terminal
	command  string
	process  *exec.Cmd
	pipe     io.WriteCloser
	plain    bool // the pager could not be started
	quit     bool
}

var errQuit = errors.New("the pager was left")

func (p *paged) Write(b []byte) (int, error) {
	if p.process == nil && !p.plain {
		if err := p.start(); err != nil {
			// As git does: say so and show the text all the same.
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

func (p *paged) start() error {
	process := shellCommand(p.command)
	process.Stdout, process.Stderr = p.terminal.Out, p.terminal.Err
	process.Env = p.terminal.Environ
	for _, usual := range []string{"LESS=FRX", "LV=-c"} {
		key, _, _ := strings.Cut(usual, "=")
		if _, set := p.terminal.LookupEnv(key); !set {
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

// wait lets the person read on: the pager is never killed, not even by Ctrl+C, which
// would leave the terminal in its mode. Its exit code says nothing about the text.
func (p *paged) wait() {
	if p.process == nil {
		return
	}
	_ = p.pipe.Close()
	_ = p.process.Wait()
}

// shellCommand starts command through a shell when it holds anything that one would
// act upon, and by itself otherwise, so that a missing program is noticed. On Windows
// without a shell its words are taken as they are.
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
