package term

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// longestAnswer is the buffer size in bytes. A terminal in line mode does not pass on longer lines.
const longestAnswer = 4096

// errAbandoned is the error of every prompt after an interrupted one. The read of the earlier
// prompt is still pending, and the line that it gets would be taken as the answer to another
// question.
var errAbandoned = errors.New("an earlier question was interrupted")

// lineReader reads lines and can be interrupted by a context. A read from a terminal cannot be
// cancelled, so the goroutine with the pending read stays until the process ends.
type lineReader struct {
	buffered  *bufio.Reader
	abandoned bool
}

type answer struct {
	line string
	err  error
}

// next reads one line. A last line without a newline counts; io.EOF means that there is no further
// line.
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
