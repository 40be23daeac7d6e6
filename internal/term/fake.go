package term

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// Interrupt is the answer in a Fake's script that stands for Ctrl+C.
const Interrupt = "\x03"

// Fake is a terminal for tests, with a user who follows a script.
type Fake struct {
	*Terminal
	// OnInterrupt is called for Ctrl+C. A test sets it to the cancel function of its context.
	OnInterrupt func()

	answers []string
	out     transcript
	err     transcript
}

// NewFake returns a terminal of 80 columns. Each question gets the next of answers; after the last
// one the input ends.
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

// NewFakePipes returns the streams of a program in a pipeline: none is a terminal, and input is on
// stdin.
func NewFakePipes(input string) *Fake {
	f := NewFake()
	f.In = strings.NewReader(input)
	f.InTerminal, f.OutTerminal, f.ErrTerminal = false, false, false
	f.columns = func() int { return 0 }
	return f
}

// Stdout returns what was written to standard output so far.
func (f *Fake) Stdout() string { return f.out.String() }

// Stderr returns what was written to standard error so far, including the answers, which a terminal
// would echo.
func (f *Fake) Stderr() string { return f.err.String() }

// typist is the input of a Fake: each read returns one answer as a line.
type typist Fake

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
