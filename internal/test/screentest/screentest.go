// Package screentest is a terminal for tests, with a user who follows a script. Only tests import it.
package screentest

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"time"

	"git-checkpoint/internal/ui/term"
)

// Interrupt is the answer in a script that stands for Ctrl+C.
const Interrupt = "\x03"

// Screen is a terminal that remembers what was written to it.
type Screen struct {
	*term.Terminal
	// OnInterrupt is called for Ctrl+C. A test sets it to the cancel function of its context.
	OnInterrupt func()

	answers []string
	out     transcript
	err     transcript
}

// New returns a terminal of 80 columns. Each question gets the next of answers; after the last
// one the input ends.
func New(answers ...string) *Screen {
	f := &Screen{OnInterrupt: func() {}, answers: answers}
	f.Terminal = &term.Terminal{
		In: (*typist)(f), Out: &f.out, Err: &f.err,
		InTerminal: true, OutTerminal: true, ErrTerminal: true,
		Environ:       []string{"TERM=xterm", "GIT_PAGER=cat"},
		ProgressAfter: time.Second,
	}
	return f
}

// NewPipes returns the streams of a program in a pipeline: none is a terminal, and input is on
// stdin.
func NewPipes(input string) *Screen {
	f := New()
	f.In = strings.NewReader(input)
	f.InTerminal, f.OutTerminal, f.ErrTerminal = false, false, false
	return f
}

// Left returns the answers that were not given yet.
func (f *Screen) Left() []string { return f.answers }

// Stdout returns what was written to standard output so far.
func (f *Screen) Stdout() string { return f.out.String() }

// Stderr returns what was written to standard error so far, including the answers, which a terminal
// would echo.
func (f *Screen) Stderr() string { return f.err.String() }

// typist is the input of a Screen: each read returns one answer as a line.
type typist Screen

func (p *typist) Read(b []byte) (int, error) {
	if len(p.answers) == 0 {
		return 0, io.EOF
	}
	next := p.answers[0]
	p.answers = p.answers[1:]
	if next == Interrupt {
		p.OnInterrupt()
		select {} // a read from a terminal does not return after the signal either
	}
	n := copy(b, next+"\n")
	_, _ = p.err.Write(b[:n])
	return n, nil
}

// transcript is a buffer that is safe for concurrent use, since a Progress writes from its own
// goroutine.
type transcript struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (s *transcript) Write(b []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.Write(b)
}

func (s *transcript) String() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.String()
}
