// Command git-checkpoint records where a job stands in a git repository, and takes
// it back there. git runs it as "git checkpoint".
package main

import (
	"os"

	"git-checkpoint/internal/cli"
	"git-checkpoint/internal/term"
)

// version is set by the linker; see the Makefile.
var version = "(unreleased)"

func main() {
	app := &cli.App{Terminal: term.New(os.Stdin, os.Stdout, os.Stderr, os.Environ()), Version: version}
	os.Exit(app.Start(os.Args[1:]))
}
