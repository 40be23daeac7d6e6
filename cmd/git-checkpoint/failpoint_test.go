package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"git-checkpoint/internal/ui/cli"
	"git-checkpoint/internal/ui/term"
)

// failpointVariable tells the program of the tests where to end:
// <step>[:<n>[:term|:hup|:pause]], the n-th time that the step is reached (default: the
// first). It ends as in a power cut, or gets a signal that asks politely, or only waits
// there for a while. The program that people install does not know the variable.
const failpointVariable = "GIT_CHECKPOINT_FAILPOINT"

// termPause is enough for the signal to arrive, longPause for other commands to run.
const (
	termPause = 100 * time.Millisecond
	longPause = 2 * time.Second
)

// killable is main with a failpoint. What it starts again in the background has none.
func killable() {
	want := os.Getenv(failpointVariable)
	os.Unsetenv(failpointVariable) //nolint:errcheck // it cannot fail for a plain name
	app := &cli.App{Terminal: term.New(os.Stdin, os.Stdout, os.Stderr, os.Environ()), Version: version}
	if want != "" {
		app.Between = failpoint(want)
	}
	os.Exit(app.Start(os.Args[1:]))
}

func failpoint(want string) func(step string) {
	name, rest, _ := strings.Cut(want, ":")
	count, how, _ := strings.Cut(rest, ":")
	reached := 0
	return func(step string) {
		if step != name {
			return
		}
		reached++
		if n, err := strconv.Atoi(count); err == nil && reached != n {
			return
		}
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			panic(err)
		}
		switch how {
		case "pause":
			time.Sleep(longPause)
		case "term", "hup":
			self.Signal(map[string]os.Signal{"term": syscall.SIGTERM, "hup": syscall.SIGHUP}[how]) //nolint:errcheck // the test sees that nothing happened
			time.Sleep(termPause)
		default:
			self.Kill() //nolint:errcheck // nothing runs after it
			select {}
		}
	}
}
