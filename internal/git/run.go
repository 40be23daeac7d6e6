package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Cmd is one git process.
type Cmd struct {
	Args   []string
	Config []string // further -c key=value
	Env    []string // further or overriding environment, "K=V"
	Dir    string   // working directory; default: the top of the worktree
	Stdin  io.Reader
	Stdout io.Writer // default: collected into Result.Stdout
	Stderr io.Writer // default: collected into Result.Stderr
}

// waitDelay bounds the wait for a process of git's own (a filter, ssh) that still
// holds the pipes of a git that was killed.
const waitDelay = 3 * time.Second

// Result is what a finished process said.
type Result struct {
	Stdout, Stderr []byte
}

// Error is a git process that ended with a code other than zero.
type Error struct {
	Args   []string
	Code   int // exit code; -1 when a signal ended it
	signal syscall.Signal
	Stderr string
}

func (e *Error) Error() string {
	msg := strings.TrimSpace(e.Stderr)
	if msg == "" {
		msg = fmt.Sprintf("exit code %d", e.Code)
		if e.Code < 0 {
			msg = "ended by a signal"
		}
	}
	return fmt.Sprintf("git %s: %s", e.Args[0], msg)
}

// ExitCode is the exit code of the git process that err reports, or -1.
func ExitCode(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return -1
}

// EndedBy reports whether a signal ended the git process that err reports.
func EndedBy(err error, signal syscall.Signal) bool {
	var e *Error
	return errors.As(err, &e) && e.Code < 0 && e.signal == signal
}

// Run starts git and waits for it.
func (r *Repo) Run(ctx context.Context, c Cmd) (Result, error) {
	cmd := r.command(ctx, c)
	var stdout, stderr bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	err := cmd.Run()
	res := Result{stdout.Bytes(), stderr.Bytes()}
	return res, classify(ctx, c.Args, stderr.String(), err)
}

// Output runs git and returns its standard output without the last newline.
func (r *Repo) Output(ctx context.Context, args ...string) (string, error) {
	res, err := r.Run(ctx, Cmd{Args: args})
	return strings.TrimSuffix(string(res.Stdout), "\n"), err
}

func (r *Repo) command(ctx context.Context, c Cmd) *exec.Cmd {
	var args []string
	var config []string
	if !r.plain {
		config = append(config, quiet...)
	}
	if !r.plain && r.Config != nil { // nil while the repository is looked for
		config = append(config, withoutHooks(r.Config)...)
	}
	for _, kv := range append(config, c.Config...) {
		args = append(args, "-c", kv)
	}
	cmd := exec.CommandContext(ctx, r.program, append(args, c.Args...)...)
	cmd.WaitDelay = waitDelay
	cmd.Cancel = func() error { // a killed git leaves its lock files behind
		if err := cmd.Process.Signal(syscall.SIGTERM); err == nil || errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return cmd.Process.Kill()
	}
	cmd.Dir = c.Dir
	if cmd.Dir == "" {
		cmd.Dir = r.WorkTree
	}
	cmd.Env = append(append([]string(nil), r.env...), "GIT_TERMINAL_PROMPT=0")
	if r.GitDir != "" {
		cmd.Env = append(cmd.Env, "GIT_DIR="+r.GitDir, "GIT_WORK_TREE="+r.WorkTree)
	}
	cmd.Env = append(cmd.Env, c.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	return cmd
}

// lateSignal is how long this process may learn later than git that both are to end.
const lateSignal = 100 * time.Millisecond

func interrupts(s syscall.Signal) bool {
	return s == syscall.SIGINT || s == syscall.SIGTERM || s == syscall.SIGHUP
}

func classify(ctx context.Context, args []string, stderr string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		e := &Error{Args: args, Code: exit.ExitCode(), Stderr: stderr}
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			e.signal = status.Signal()
			if interrupts(e.signal) {
				select { // one for all processes may reach git first
				case <-ctx.Done():
					return context.Cause(ctx)
				case <-time.After(lateSignal):
				}
			}
		}
		return e
	}
	return fmt.Errorf("start git %s: %w", args[0], err)
}
