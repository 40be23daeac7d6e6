// Command git-checkpoint records where a job stands in a git repository, and takes
// it back there. git runs it as "git checkpoint".
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"git-checkpoint/internal/cli"
	"git-checkpoint/internal/term"
)

// version is set by the linker; see the Makefile.
var version = "(unreleased)"

func main() {
	// A run is short: collecting garbage in a small heap costs more than it frees.
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(48 << 20)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl+C ends the program at once
	terminal := term.New(os.Stdin, os.Stdout, os.Stderr, os.Environ())
	os.Exit(cli.Main(ctx, terminal, os.Args[1:], version))
}
