// Package command runs a user's command at the user's terminal. It owns how the
// command is started, which signals are passed on to it, how it is ended when its time
// is over, and what counts as interrupted. It refuses to read what it runs: there is
// no shell, and no argument is changed.
package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// Command is what is run and where.
type Command struct {
	Args     []string
	Dir      string
	Env      []string
	In       io.Reader
	Out, Err io.Writer
	// Timeout is how long it may run; 0: as long as it likes.
	Timeout time.Duration
	// Grace is how long it may take to end after it was told to; 0: five seconds.
	Grace time.Duration
}

// How a command ended.
type How int

// The ways.
const (
	Exited      How = iota // by itself, well or not
	Interrupted            // by Ctrl+C or a signal to this process
	TimedOut               // its time was over
)

// End is what became of a command. Code is its own exit code, or what shells make of
// the signal that ended it; 130 or 143 when it was interrupted, 124 when it timed out.
type End struct {
	How  How
	Code int
}

// Exit codes that have a meaning among programs.
const (
	codeTimedOut    = 124
	codeCannotRun   = 126
	codeNotFound    = 127
	codeInterrupted = 130
	codeTerminated  = 143
	codeSignal      = 128 // and the number of the signal
)

const (
	usualGrace = 5 * time.Second
	// lateSignal is how long this process may learn later than the command that both
	// were interrupted.
	lateSignal = 100 * time.Millisecond
)

// Watch takes the signals that end a program away from this process until stop is
// called, and gives them to the commands that run meanwhile.
func Watch() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 8)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// Find reports why a program cannot be run; nil when it can.
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

// CodeOf is what shells give for an error of Find.
func CodeOf(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return codeNotFound
	}
	return codeCannotRun
}

// Run starts the command and waits for its end. An error is that it could not be
// started.
func (c Command) Run(signals <-chan os.Signal) (End, error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...) //nolint:noctx,gosec // it is what the user wants to run; it is ended by signals, and gets time to
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.In, c.Out, c.Err
	if c.Grace == 0 {
		c.Grace = usualGrace
	}
	cmd.WaitDelay = c.Grace
	p := newProcess(cmd)
	defer p.close()
	if err := cmd.Start(); err != nil {
		return End{}, fmt.Errorf("start %q: %w", c.Args[0], err)
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

// waiter waits for the end of a process that runs.
type waiter struct {
	process process
	grace   time.Duration
	signals <-chan os.Signal
	done    <-chan error
	over    <-chan time.Time

	kill     <-chan time.Time // when it was told to end, and has not
	heard    os.Signal        // the last one
	heardAt  time.Time
	passedOn bool
	timedOut bool
}

func (w *waiter) wait() End {
	for {
		select {
		case err := <-w.done:
			return w.end(codeOf(err))
		case s := <-w.signals:
			w.hear(s)
		case <-w.over:
			w.over, w.timedOut = nil, true
			w.tell(syscall.SIGTERM)
		case <-w.kill:
			w.kill = nil
			w.process.kill()
		}
	}
}

// hear passes a signal on. Ctrl+C at the terminal of the command has reached it
// already, and it may go on: an interactive program takes Ctrl+C as one of its keys.
func (w *waiter) hear(s os.Signal) {
	w.heard, w.heardAt = s, time.Now()
	if s == os.Interrupt && w.process.hears() {
		return
	}
	w.passedOn = true
	w.tell(s)
}

// tell lets the command end, and sees to it that it does.
func (w *waiter) tell(s os.Signal) {
	w.process.signal(s)
	if w.kill == nil {
		w.kill = time.After(w.grace)
	}
}

// end says what the exit means. What ends soon after a signal was ended by it, however
// it says so; what goes on for longer has made that signal its own.
func (w *waiter) end(code int) End {
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

// codeOf is the command's exit code, or 128 and the number of the signal that ended it.
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
