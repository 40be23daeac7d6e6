package cli

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"git-checkpoint/internal/term"
)

// Start is Main of the process that the program is: it bounds its memory and heeds the
// signals that it gets.
func Start(terminal *term.Terminal, args []string, version string) int {
	// A run is short: collecting garbage in a small heap costs more than it frees.
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(everydayMemory)
	followMemory()
	ctx, cancel := context.WithCancel(context.Background())
	app := &App{Terminal: terminal, Version: version, args: args, heed: func() <-chan struct{} { return heed(cancel) }}
	return app.main(ctx)
}

// heed has Ctrl+C, a polite kill and a terminal that is closed cancel what is going on, once what it returns is
// closed. That takes a thread of its own, which costs a command that only says something a
// tenth of its time: it begins where a repository is opened, before anything is written.
func heed(cancel context.CancelFunc) <-chan struct{} {
	heeded := make(chan struct{})
	go func() {
		came := make(chan os.Signal, 1)
		signal.Notify(came, os.Interrupt, syscall.SIGTERM)
		if !signal.Ignored(syscall.SIGHUP) { // nohup
			signal.Notify(came, syscall.SIGHUP)
		}
		close(heeded)
		<-came
		signal.Stop(came) // a second Ctrl+C ends the program at once
		cancel()
	}()
	return heeded
}
