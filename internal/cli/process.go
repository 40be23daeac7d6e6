package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// Start runs the program with args as a process of its own: it says how often garbage is collected, heeds
// signals, and returns the exit code.
func (a *App) Start(args []string) int {
	// A run is short: collecting garbage in a small heap costs more than it frees. The
	// first collection is at 12 MiB, and the heap grows to four times of what is in use.
	debug.SetGCPercent(300)
	ctx, cancel := context.WithCancel(context.Background())
	a.args, a.heed = args, func() <-chan struct{} { return heed(cancel) }
	return a.main(ctx)
}

// heed lets Ctrl+C, SIGTERM and a closed terminal cancel the run, once the channel that it
// returns is closed. That takes a thread of its own, which costs a command that only says something a
// tenth of its time: it begins where a repository is opened, before anything is written.
func heed(cancel context.CancelFunc) <-chan struct{} {
	heeded := make(chan struct{})
	go func() {
		came := make(chan os.Signal, 1)
		signal.Notify(came, os.Interrupt, syscall.SIGTERM)
		if !signal.Ignored(syscall.SIGHUP) { // nohup
			signal.Notify(came, syscall.SIGHUP)
		}
		// A closed pipe makes a write fail, where it would end the program in the middle of
		// its work. Unlike an ignored signal, git and the pager do not inherit this.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		close(heeded)
		<-came
		signal.Stop(came) // a second Ctrl+C ends the program at once
		cancel()
	}()
	return heeded
}

// unheard reports whether err is only that nobody reads what this program prints.
func unheard(err error) bool {
	var failed *fs.PathError
	return errors.As(err, &failed) && errors.Is(failed.Err, syscall.EPIPE) &&
		(failed.Path == "/dev/stdout" || failed.Path == "/dev/stderr") // so Go calls them on every system
}
