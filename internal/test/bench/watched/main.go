// Command git-checkpoint is the program itself, with instruments: it writes a CPU profile
// of each run to the directory BENCH_PROFILES, and its peak memory to the file BENCH_PEAK.
// It is built for measurements only. The released program has no profiler and reads no such
// variables.
package main

import (
	"os"

	"git-checkpoint/internal/ui/cli"
	"git-checkpoint/internal/ui/term"
)

func main() {
	done, err := profile(os.Getenv("BENCH_PROFILES"))
	if err != nil {
		os.Stderr.WriteString("error: " + err.Error() + "\n") //nolint:errcheck // nobody is left to tell
		os.Exit(1)
	}
	app := &cli.App{Terminal: term.New(os.Stdin, os.Stdout, os.Stderr, os.Environ()), Version: "(watched)"}
	code := app.Start(os.Args[1:])
	done()
	writePeak(os.Getenv("BENCH_PEAK"))
	os.Exit(code)
}
