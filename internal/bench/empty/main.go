// Command empty has one command that does nothing. How long it takes to start is what
// the library that reads the command line costs.
package main

import (
	"os"

	"github.com/alecthomas/kong"
)

type version struct{}

// Run does nothing.
func (version) Run() error { return nil }

func main() {
	var line struct {
		Version version `cmd:""`
	}
	parser, err := kong.New(&line)
	if err != nil {
		os.Exit(1)
	}
	parsed, err := parser.Parse(os.Args[1:])
	parser.FatalIfErrorf(err)
	parser.FatalIfErrorf(parsed.Run())
}
