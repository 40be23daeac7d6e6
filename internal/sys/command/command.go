// Package command runs a command of the user's at the user's terminal. It decides how the command
// is started, which signals it gets, how it is ended when its time is over, and what counts as
// interrupted. There is no shell, and no argument is changed.
//
// Command.Run is the main function: it starts the process and returns an End. Call Watch before it,
// so that a Ctrl-C does not end this program first. process_unix.go has the process groups and
// signals, process_other.go what is left of that on Windows. Background starts this program again
// in the background, and Beginning runs a program for a few bytes of its output. Bounded keeps the
// beginning of a longer output.
package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// Command is a command to run.
type Command struct {
	Args     []string // the program and its arguments; at least one
	Dir      string   // working directory; empty: that of this process
	Env      []string // complete environment; nil: that of this process
	In       io.Reader
	Out, Err io.Writer
	Timeout  time.Duration // how long the command may run; 0 means no limit
	// Grace is how long the command may take to end after it was told to; 0 means five seconds.
	// Then it is killed.
	Grace time.Duration
}

// How says in which way a command ended.
type How int

// The values of How.
const (
	Exited      How = iota // by itself, with success or not
	Interrupted            // by Ctrl-C or by a signal to this process
	TimedOut               // its time was over
)

// End is the result of a command. Code is its exit code, or 128 plus the number of the signal that
// ended it, as in a shell. It is 130 (Ctrl-C) or 143 (another signal) if the command was
// interrupted, and 124 if it timed out.
type End struct {
	How  How
	Code int
}

// Exit codes by the conventions of shells and of timeout(1).
const (
	codeTimedOut    = 124
	codeCannotRun   = 126
	codeNotFound    = 127
	codeInterrupted = 130
	codeTerminated  = 143
	codeSignal      = 128 // plus the number of the signal
)

// usualGrace is the default of Command.Grace.
const (
	usualGrace = 5 * time.Second
	// lateSignal is how long this process waits for a signal that the command has already received.
	// A Ctrl-C goes to all processes of the terminal, and the command may end first.
	lateSignal = 100 * time.Millisecond
)

// Watch diverts the signals that would end this process to the returned channel, until stop is
// called. Pass the channel to Run.
func Watch() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 8)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// Find returns an error that says why a program cannot be run, or nil.
func Find(program string) error {
	if _, err := exec.LookPath(program); err != nil {
		var known *exec.Error
		if errors.As(err, &known) {
			err = known.Err
		}
		return fmt.Errorf("run %q: %w", program, err)
	}
	return nil
}

// CodeOf returns the exit code that a shell would give for an error of Find: 127 if there is no
// such program, else 126.
func CodeOf(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return codeNotFound
	}
	return codeCannotRun
}

// Run starts the command and waits until it has ended. A signal from signals ends it, or is passed
// on to it; see waiter. The error says that the command could not be started, and End has the exit
// code that a shell gives then; every other outcome is in End alone.
func (c Command) Run(signals <-chan os.Signal) (End, error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...) //nolint:noctx,gosec // it is what the user wants to run; it is ended by signals, and gets time to
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.In, c.Out, c.Err
	if c.Grace == 0 {
		c.Grace = usualGrace
	}
	// A background process that the command leaves behind may hold its output pipes open. Wait no
	// longer than this for them.
	cmd.WaitDelay = c.Grace
	p := newProcess(cmd)
	defer p.close()
	if err := cmd.Start(); err != nil {
		return End{Code: unstarted(cmd)}, fmt.Errorf("start %q: %w", c.Args[0], err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	w := waiter{process: p, grace: c.Grace, signals: signals, done: done}
	if c.Timeout > 0 {
		timer := time.NewTimer(c.Timeout)
		defer timer.Stop()
		w.over = timer.C
	}
	return w.wait(), nil
}

// unstarted returns the exit code for a command that could not be started. The system's error does
// not tell a program that is not there from a script whose interpreter is not there.
func unstarted(cmd *exec.Cmd) int {
	program := cmd.Path
	if !filepath.IsAbs(program) {
		program = filepath.Join(cmd.Dir, program)
	}
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		return codeNotFound
	}
	return codeCannotRun
}

// waiter waits for the end of a running process. Whatever asks the process to end (a timeout, or a
// signal that is passed on) also starts the grace period, after which the process is killed.
type waiter struct {
	process process
	grace   time.Duration
	signals <-chan os.Signal
	done    <-chan error     // receives the result of cmd.Wait
	over    <-chan time.Time // fires when the timeout is reached; nil: no timeout

	kill     <-chan time.Time // fires when the grace period is over; nil while it has not begun
	heard    os.Signal        // the last signal
	heardAt  time.Time
	passedOn bool // a signal was passed on
	timedOut bool
}

// wait handles signals and timers until the process has ended.
func (w *waiter) wait() End {
	for {
		select {
		case err := <-w.done:
			return w.end(codeOf(err))
		case s := <-w.signals:
			w.hear(s)
		case <-w.over:
			w.over, w.timedOut = nil, true
			w.sendSignal(syscall.SIGTERM)
		case <-w.kill:
			w.kill = nil
			w.process.kill()
		}
	}
}

// hear handles a signal to this process. It is passed on, except for a Ctrl-C that the terminal has
// sent to the command as well. In that case the command decides what it means: in an editor or a
// REPL, Ctrl-C is one of the keys.
func (w *waiter) hear(s os.Signal) {
	w.heard, w.heardAt = s, time.Now()
	if s == os.Interrupt && w.process.hears() {
		return
	}
	w.passedOn = true
	w.sendSignal(s)
}

// sendSignal sends a signal and starts the grace period.
func (w *waiter) sendSignal(s os.Signal) {
	w.process.signal(s)
	if w.kill == nil {
		w.kill = time.After(w.grace)
	}
}

// end returns the result for an exit code. A command that ends within the grace period after a
// signal counts as interrupted, whatever its exit code. One that runs on for longer has handled the
// signal itself, and its exit code is used.
func (w *waiter) end(code int) End {
	// The exit code looks like that of a signal which has not arrived here yet.
	if w.heard == nil && (code == codeInterrupted || code == codeTerminated) {
		select {
		case w.heard = <-w.signals:
			w.heardAt = time.Now()
		case <-time.After(lateSignal):
		}
	}
	told := w.passedOn || w.heard != nil && time.Since(w.heardAt) <= w.grace
	if told || w.timedOut {
		w.process.sweep()
	}
	switch {
	case w.timedOut:
		return End{TimedOut, codeTimedOut}
	case told && w.heard != os.Interrupt:
		return End{Interrupted, codeTerminated}
	case told, w.process.diedOf(os.Interrupt):
		return End{Interrupted, codeInterrupted}
	}
	return End{Exited, code}
}

// codeOf returns the exit code of a command, or 128 plus the number of the signal that ended it.
// exec.ErrWaitDelay means that the command itself succeeded.
func codeOf(err error) int {
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return 0
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 1
	}
	if s, ok := signalOf(exit.ProcessState); ok {
		return codeSignal + s
	}
	return exit.ExitCode()
}
