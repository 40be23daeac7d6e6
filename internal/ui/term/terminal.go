// Package term handles the terminal of the program: which of the three standard streams are
// terminals, how wide the screen is, questions to the user, the pager, and progress.
//
// New looks at the streams and returns a Terminal. Confirm, Ask and Choose ask the user something;
// Page shows text in git's pager; Progress shows how far a long task is. Questions are refused with
// ErrNotInteractive unless all three streams are terminals, so that scripts never hang. The package
// neither formats nor escapes: text that it shows must have been through package render. Tests use
// package screentest, a terminal whose user follows a script.
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

// Terminal holds the standard streams of the program and what is known of them. Only one goroutine
// at a time may ask questions.
type Terminal struct {
	In                                   io.Reader
	Out, Err                             io.Writer
	InTerminal, OutTerminal, ErrTerminal bool          // these tell which of the streams are terminals
	Environ                              []string      // the environment in the form of os.Environ
	ProgressAfter                        time.Duration // how long a task takes before its progress is shown

	size  func() (columns, rows int) // of the device; 0 when unknown, nil when there is no device
	lines lineReader
}

const (
	usualColumns  = 80
	usualRows     = 24
	progressAfter = time.Second
)

// New returns the Terminal of three streams. On Windows it also enables color codes in the console.
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
	// Ask on every call, since the user may resize the window. Any of the streams may be
	// redirected.
	t.size = func() (columns, rows int) {
		for _, f := range []*os.File{out, err, in} {
			if columns, rows, e := xterm.GetSize(int(f.Fd())); e == nil && columns > 0 {
				return columns, rows
			}
		}
		return 0, 0
	}
	return t
}

// Interactive reports whether the user can be asked something, which needs all three streams to be
// terminals. If stdout were a pipe, the user would not see what the question is about.
func (t *Terminal) Interactive() bool { return t.InTerminal && t.OutTerminal && t.ErrTerminal }

// Width returns the present number of columns: COLUMNS if set, else that of the device, else 80.
func (t *Terminal) Width() int {
	var columns int
	if t.size != nil {
		columns, _ = t.size()
	}
	return t.measure("COLUMNS", columns, usualColumns)
}

// Height returns the present number of rows: LINES if set, else that of the device, else 24.
func (t *Terminal) Height() int {
	var rows int
	if t.size != nil {
		_, rows = t.size()
	}
	return t.measure("LINES", rows, usualRows)
}

// measure returns the number in an environment variable, else that of the device, else the usual one.
func (t *Terminal) measure(key string, device, usual int) int {
	if value, ok := t.LookupEnv(key); ok {
		if n, err := strconv.Atoi(value); err == nil && n > 0 {
			return n
		}
	}
	if device > 0 {
		return device
	}
	return usual
}

// LookupEnv is os.LookupEnv for the environment of the terminal.
func (t *Terminal) LookupEnv(key string) (value string, ok bool) {
	for _, entry := range t.Environ {
		if name, v, found := strings.Cut(entry, "="); found && name == key {
			value, ok = v, true // the last entry wins, as in os/exec
		}
	}
	return value, ok
}

// prompt writes text to stderr and reads one line, which it returns without surrounding space. The
// error is ErrNotInteractive if nobody can be asked, io.EOF at the end of the input, and that of
// ctx after an interrupt.
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
		// The user did not press Enter. End the line of the question, so that the next output does
		// not continue it.
		_, _ = io.WriteString(t.Err, "\n")
		return "", err
	}
	return strings.TrimSpace(line), nil
}
