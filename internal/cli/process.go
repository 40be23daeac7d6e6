package cli

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"git-checkpoint/internal/term"
)

// everydayMemory is what a run may take before garbage is collected at any price.
const everydayMemory = 48 << 20

// Start is Main of the process that the program is: it bounds its memory and heeds the
// signals that it gets.
func Start(terminal *term.Terminal, args []string, version string) int {
	// A run is short: collecting garbage in a small heap costs more than it frees.
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(everydayMemory)
	ctx, cancel := context.WithCancel(context.Background())
	app := &App{Terminal: terminal, Version: version, args: args, heed: func() <-chan struct{} { return heed(cancel) }}
	return app.main(ctx)
}

// memoryFor is the same in a worktree with an index of some bytes: its file, its entries
// and what was found of each are in memory at once, which takes four times as much.
// Looking for garbage all the time finds none in that.
func memoryFor(index int64) int64 { return max(everydayMemory, 4*index) }

// memoryOfProof is the same for who looks at all checkpoints, of which as much is kept as the
// packed refs take six or seven times: what is made of a few at once is garbage soon.
func memoryOfProof(packedRefs int64) int64 { return max(leastProof, 12*packedRefs) }

const leastProof = 32 << 20

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
