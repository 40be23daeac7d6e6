package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"git-checkpoint/internal/sys/lazy"
)

// Cmd describes one git process.
type Cmd struct {
	Args   []string
	Config []string // further -c key=value, after those of quiet
	Env    []string // further environment, "K=V"; it overrides the environment of the Location
	Dir    string   // working directory; default: the top of the worktree
	Stdin  io.Reader
	Stdout io.Writer // default: collected into Result.Stdout
	Stderr io.Writer // default: collected into Result.Stderr
}

// waitDelay limits how long Run waits, after git was killed, for a child of git (a filter, ssh)
// that still holds git's pipes open.
const waitDelay = 3 * time.Second

// Result is the output of a finished process. A stream that Cmd redirected is empty here.
type Result struct {
	Stdout, Stderr []byte
}

// Paths returns what git listed with a NUL after each.
func (r Result) Paths() []string {
	return slices.DeleteFunc(strings.Split(string(r.Stdout), "\x00"), func(one string) bool { return one == "" })
}

// Error reports a git process that exited with a code other than zero, or that a signal ended.
type Error struct {
	Args   []string
	Code   int // exit code; -1 when a signal ended the process
	signal syscall.Signal
	Stderr string
}

// Error returns what git printed to stderr, or the exit code when it printed nothing.
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

// tellsDamage matches what git says of an object that is missing or that it cannot read.
var tellsDamage = lazy.Pattern(`(?m)^(error|fatal): .*(unable to read tree|object file .* is empty|inflate: |corrupt|(too-short|truncated) tree|in tree entry|bad object|[Cc]ould not read [0-9a-f]{40}|missing (blob|tree|commit))`)

// Is reports that git failed over a damaged object, for errors.Is with ErrUnreadable.
func (e *Error) Is(target error) bool {
	return target == ErrUnreadable && tellsDamage().MatchString(e.Stderr)
}

// ExitCode returns the exit code of the git process that err reports. It is -1 for every other
// error and for a process that a signal ended.
func ExitCode(err error) int {
	if e, is := errors.AsType[*Error](err); is {
		return e.Code
	}
	return -1
}

// EndedBy reports whether a signal ended the git process that err reports.
func EndedBy(err error, signal syscall.Signal) bool {
	e, is := errors.AsType[*Error](err)
	return is && e.Code < 0 && e.signal == signal
}

// Run starts git and waits for it. It returns *Error when git fails, and the cause of ctx when ctx
// ended first.
func (l *Location) Run(ctx context.Context, c Cmd) (Result, error) {
	cmd := l.command(ctx, c)
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

// Output runs git and returns its standard output without the newline at its end.
func (l *Location) Output(ctx context.Context, args ...string) (string, error) {
	res, err := l.Run(ctx, Cmd{Args: args})
	return strings.TrimSuffix(string(res.Stdout), "\n"), err
}

// command builds the process: our configuration first, then that of c, so that the caller's
// settings override ours. The place of the repository is passed in GIT_DIR and GIT_WORK_TREE, so
// that git does not search for it again.
func (l *Location) command(ctx context.Context, c Cmd) *exec.Cmd {
	var args []string
	var config []string
	if !l.plain {
		config = append(config, quiet...)
	}
	if !l.plain && l.Config != nil { // nil while ask still reads it
		config = append(config, withoutHooks(l.Config)...)
	}
	for _, kv := range append(config, c.Config...) {
		args = append(args, "-c", kv)
	}
	cmd := exec.CommandContext(ctx, l.program, append(args, c.Args...)...)
	cmd.WaitDelay = waitDelay
	if _, limited := ctx.Deadline(); limited { // an agent waits
		cmd.WaitDelay = waitDelay / 10
	}
	cmd.Cancel = func() error { // on SIGTERM git removes its lock files; on SIGKILL it leaves them
		if err := cmd.Process.Signal(syscall.SIGTERM); err == nil || errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return cmd.Process.Kill()
	}
	cmd.Dir = cmp.Or(c.Dir, l.WorkTree)
	cmd.Env = append(append([]string(nil), l.env...), "GIT_TERMINAL_PROMPT=0")
	if l.GitDir != "" {
		cmd.Env = append(cmd.Env, "GIT_DIR="+l.GitDir, "GIT_WORK_TREE="+l.WorkTree)
	}
	cmd.Env = append(cmd.Env, c.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	return cmd
}

// lateSignal is how long this process waits for a signal that git has already received. A Ctrl-C
// goes to all processes of the terminal, and git may die of it before our own handler has run.
const lateSignal = 100 * time.Millisecond

// classify turns the outcome of a process into an error: the cause of ctx if ctx has ended, an
// *Error if git failed, and otherwise an error that says why git did not start. If a
// signal ended git by which a user or the system ends a whole group of processes, it waits a moment for ctx to end too, so that a Ctrl-C is
// reported as such and not as a failure of git.
func classify(ctx context.Context, args []string, stderr string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		e := &Error{Args: args, Code: exit.ExitCode(), Stderr: stderr}
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			e.signal = status.Signal()
			if slices.Contains([]syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}, e.signal) {
				select {
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
