package term

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"git-checkpoint/internal/sys/gather"
)

// ErrNotInteractive is the error of every question when nobody can be asked.
var ErrNotInteractive = errors.New("not on a terminal")

// ErrQuit means that the user chose none of the choices, by "q" or by the end of the input.
var ErrQuit = errors.New("nothing was chosen")

// Confirm asks a yes-or-no question. Any answer but "y" or "yes" is no, and so is the end of the
// input.
func (t *Terminal) Confirm(ctx context.Context, question string) (bool, error) {
	return t.ConfirmOr(ctx, question, nil)
}

// ConfirmOr is Confirm for a question about something that "d" shows. It asks again after that. Without show, "d" is
// no, as any other answer is.
func (t *Terminal) ConfirmOr(ctx context.Context, question string, show func() error) (bool, error) {
	for {
		line, err := t.prompt(ctx, question+" [y/N] ")
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if line = strings.ToLower(line); line != "d" || show == nil {
			return line == "y" || line == "yes", nil
		}
		if err := show(); err != nil {
			return false, err
		}
	}
}

// Choice is one of a few answers. The user types its letter or the beginning of its text.
type Choice struct {
	Letter rune
	Text   string
}

// Ask shows the question and the choices, as in "(r)esume, (s)tart fresh, (q)uit? ", and asks
// until the user takes one. It returns the letter of that choice, or ErrQuit.
func (t *Terminal) Ask(ctx context.Context, question string, choices []Choice) (rune, error) {
	labels := gather.List(choices, Choice.label)
	// A command that is running calls it "stop" to quit, so the two are not offered together.
	if !slices.ContainsFunc(choices, func(c Choice) bool { return c.Text == "stop" }) {
		labels = append(labels, "(q)uit")
	}
	text := question + "\n" + strings.Join(labels, ", ") + "? "
	for {
		line, err := t.prompt(ctx, text)
		if errors.Is(err, io.EOF) {
			return 0, ErrQuit
		}
		if err != nil {
			return 0, err
		}
		if letter, ok := taken(choices, line); ok {
			return letter, nil
		}
		if line == "q" {
			return 0, ErrQuit
		}
	}
}

// label returns the text with its letter in parentheses.
func (c Choice) label() string {
	if rest, ok := strings.CutPrefix(c.Text, string(c.Letter)); ok {
		return fmt.Sprintf("(%c)%s", c.Letter, rest)
	}
	return fmt.Sprintf("(%c) %s", c.Letter, c.Text)
}

// taken returns the letter of the choice that was typed. It returns false if none or several match.
func taken(choices []Choice, line string) (rune, bool) {
	line = strings.ToLower(line)
	if line == "" {
		return 0, false
	}
	var found []rune
	for _, c := range choices {
		if line == string(unicode.ToLower(c.Letter)) {
			return c.Letter, true
		}
		if strings.HasPrefix(strings.ToLower(c.Text), line) {
			found = append(found, c.Letter)
		}
	}
	if len(found) != 1 {
		return 0, false
	}
	return found[0], true
}

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
