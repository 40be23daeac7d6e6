// Command git-checkpoint is the program as it is, under watch: it writes a profile of
// each run into the directory BENCH_PROFILES, and its peak of memory into the file
// BENCH_PEAK. It is built for measurements alone, so that what people install starts no
// profiler and listens to no such variable.
package main

import (
	"os"

	"git-checkpoint/internal/cli"
	"git-checkpoint/internal/term"
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
