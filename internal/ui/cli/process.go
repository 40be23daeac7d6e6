package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// Start runs the program as a process of its own: it handles signals and returns the exit code.
// args does not include the program's name.
func (a *App) Start(args []string) int {
	ctx, cancel := context.WithCancel(context.Background())
	a.args, a.installSignals = args, func() { installSignals(cancel) }
	return a.main(ctx)
}

// installSignals makes Ctrl+C, SIGTERM and SIGHUP (a closed terminal) cancel the run. App.serve calls it when
// it has opened a repository, before anything is written, so that a short command such as "version"
// need not start the thread that signal.Notify starts.
func installSignals(cancel context.CancelFunc) {
	// signal.Notify does not block: without a buffer a signal could be lost.
	came := make(chan os.Signal, 1)
	signal.Notify(came, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // it is ignored under nohup, and must stay so
		signal.Notify(came, syscall.SIGHUP)
	}
	// When the reader of stdout is gone, a write must fail with EPIPE instead of killing the process
	// in the middle of its work. Ignoring SIGPIPE would do that too, but git and the pager would
	// inherit an ignored signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		<-came
		signal.Stop(came) // from now on a second Ctrl+C kills the program at once
		cancel()
	}()
}

// unheard reports whether err is a failed write to stdout or stderr because the reader is gone.
func unheard(err error) bool {
	var failed *fs.PathError
	return errors.As(err, &failed) && errors.Is(failed.Err, syscall.EPIPE) &&
		(failed.Path == "/dev/stdout" || failed.Path == "/dev/stderr") // Go gives os.Stdout and os.Stderr these names on every system
}
