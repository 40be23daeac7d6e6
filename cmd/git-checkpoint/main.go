// Command git-checkpoint records where a multi-step job stands in a git repository, and takes it
// back there. git finds it as a subcommand: "git checkpoint". Everything is in package
// internal/ui/cli; this file only connects it to the process.
package main

import (
	"os"

	"git-checkpoint/internal/ui/cli"
	"git-checkpoint/internal/ui/term"
)

// version is set by the linker, with -X main.version; see the Makefile.
var version = "(unreleased)"

func main() {
	app := &cli.App{Terminal: term.New(os.Stdin, os.Stdout, os.Stderr, os.Environ()), Version: version}
	// Exiting is left to main, so that the deferred functions of everything below have run.
	os.Exit(app.Start(os.Args[1:]))
}
