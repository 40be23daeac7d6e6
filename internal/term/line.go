package term

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// longestAnswer is more than a terminal passes on as one line.
const longestAnswer = 4096

// errAbandoned is what a prompt after an interrupted one gets: a read that nobody waits
// for still stands, and its line answers another question.
var errAbandoned = errors.New("an earlier question was interrupted")

// lineReader reads lines in a way that an interrupt can leave: the read itself cannot
// be, it stays behind until the process ends.
type lineReader struct {
	buffered  *bufio.Reader
	abandoned bool
}

type answer struct {
	line string
	err  error
}

func (r *lineReader) next(ctx context.Context, in io.Reader) (string, error) {
	if r.abandoned {
		return "", errAbandoned
	}
	if r.buffered == nil {
		r.buffered = bufio.NewReaderSize(in, longestAnswer)
	}
	answers := make(chan answer, 1)
	go func() {
		line, err := r.buffered.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) > 0 {
			err = nil
		}
		answers <- answer{string(line), err}
	}()
	select {
	case <-ctx.Done():
		r.abandoned = true
		return "", ctx.Err()
	case a := <-answers:
		if a.err != nil && !errors.Is(a.err, io.EOF) {
			return "", fmt.Errorf("reading the answer: %w", a.err)
		}
		return a.line, a.err
	}
}
