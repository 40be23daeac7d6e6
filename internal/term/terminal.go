// Package term owns the terminal: what stands at the other end of the three standard
// streams, how wide it is, questions to the person there, the pager and progress. It
// refuses to ask anything when one of the three streams is no terminal, and it neither
// formats nor escapes: what it is handed to show has been through render.
package term

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	xterm "golang.org/x/term"
)

// Terminal is the standard streams of the program and what is known of them. Its
// prompts are for one goroutine.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	// Which of them is a terminal.
	InTerminal, OutTerminal, ErrTerminal bool
	// Environ is the environment, as os.Environ has it.
	Environ []string
	// ProgressAfter is how long something takes before its progress is shown.
	ProgressAfter time.Duration

	columns func() int // of the device; 0 when it has none
	lines   lineReader
}

const (
	usualColumns  = 80
	progressAfter = time.Second
)

// New looks at the three streams.
func New(in, out, err *os.File, environ []string) *Terminal {
	t := &Terminal{
		In: in, Out: out, Err: err,
		InTerminal:    xterm.IsTerminal(int(in.Fd())),
		OutTerminal:   xterm.IsTerminal(int(out.Fd())),
		ErrTerminal:   xterm.IsTerminal(int(err.Fd())),
		Environ:       environ,
		ProgressAfter: progressAfter,
	}
	obeyColours(out)
	obeyColours(err)
	t.columns = func() int {
		for _, f := range []*os.File{out, err, in} {
			if columns, _, e := xterm.GetSize(int(f.Fd())); e == nil && columns > 0 {
				return columns
			}
		}
		return 0
	}
	return t
}

// Interactive reports whether a person can be asked: all three streams are terminals.
// With stdout in a pipe the person would not see what the question is about.
func (t *Terminal) Interactive() bool { return t.InTerminal && t.OutTerminal && t.ErrTerminal }

// Width is the number of columns now: COLUMNS, else the device's, else 80.
func (t *Terminal) Width() int {
	if value, ok := t.LookupEnv("COLUMNS"); ok {
		if columns, err := strconv.Atoi(value); err == nil && columns > 0 {
			return columns
		}
	}
	if columns := t.columns(); columns > 0 {
		return columns
	}
	return usualColumns
}

// LookupEnv is os.LookupEnv over the terminal's environment.
func (t *Terminal) LookupEnv(key string) (value string, ok bool) {
	for _, entry := range t.Environ {
		if name, v, found := strings.Cut(entry, "="); found && name == key {
			value, ok = v, true // the last one wins, as in os/exec
		}
	}
	return value, ok
}

// prompt shows text on stderr and reads the line that answers it.
func (t *Terminal) prompt(ctx context.Context, text string) (string, error) {
	if !t.Interactive() {
		return "", ErrNotInteractive
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if _, err := io.WriteString(t.Err, text); err != nil {
		return "", fmt.Errorf("asking: %w", err)
	}
	line, err := t.lines.next(ctx, t.In)
	if err != nil {
		// The person did not end the line; what is written next must not stand in it.
		_, _ = io.WriteString(t.Err, "\n")
		return "", err
	}
	return strings.TrimSpace(line), nil
}
