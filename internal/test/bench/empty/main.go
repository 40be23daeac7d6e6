// Command empty has a single command that does nothing. Starting it takes as long as the
// library for the command line needs.
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
