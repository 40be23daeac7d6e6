package term

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// Interrupt is the answer that stands for Ctrl+C in a Fake's script.
const Interrupt = "\x03"

// Fake is a terminal for tests with a person at it who follows a script.
type Fake struct {
	*Terminal
	// OnInterrupt is what Ctrl+C does; a test sets it to the cancel of its context.
	OnInterrupt func()

	answers []string
	out     transcript
	err     transcript
}

// NewFake is a terminal of 80 columns, at which each question gets the next of answers
// and, after the last one, the end of the input.
func NewFake(answers ...string) *Fake {
	f := &Fake{OnInterrupt: func() {}, answers: answers}
	f.Terminal = &Terminal{
		In: (*typist)(f), Out: &f.out, Err: &f.err,
		InTerminal: true, OutTerminal: true, ErrTerminal: true,
		Environ:       []string{"TERM=xterm", "GIT_PAGER=cat"},
		ProgressAfter: progressAfter,
		columns:       func() int { return usualColumns },
	}
	return f
}

// NewFakePipes is a program with pipes for streams: nobody to ask, input on stdin.
func NewFakePipes(input string) *Fake {
	f := NewFake()
	f.In = strings.NewReader(input)
	f.InTerminal, f.OutTerminal, f.ErrTerminal = false, false, false
	f.columns = func() int { return 0 }
	return f
}

// Stdout is what was written to standard output so far.
func (f *Fake) Stdout() string { return f.out.String() }

// Stderr is what was written to standard error so far, with the answers where a
// terminal would echo them.
func (f *Fake) Stderr() string { return f.err.String() }

// typist types the answers of a Fake, one line for each read.
type typist Fake

func (p *typist) Read(b []byte) (int, error) {
	if len(p.answers) == 0 {
		return 0, io.EOF
	}
	next := p.answers[0]
	p.answers = p.answers[1:]
	if next == Interrupt {
		p.OnInterrupt()
		select {} // as a read from a terminal goes on after the signal
	}
	n := copy(b, next+"\n")
	_, _ = p.err.Write(b[:n])
	return n, nil
}

// transcript is a buffer that a progress bar may write to at the same time.
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
