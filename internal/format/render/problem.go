package render

import (
	"io"
	"strings"

	"git-checkpoint/internal/sys/lazy"
)

// Problem is an error as a user sees it: a kind for programs, a message, and hints about what to
// do.
type Problem struct {
	Kind    string   `json:"kind"`
	Message string   `json:"message"`
	Hints   []string `json:"hints"`
}

// Text writes "error:" lines, then "hint:" lines. Each line of a longer message gets the prefix, so
// that every line on stderr can be recognized.
func (p Problem) Text(w io.Writer, style Style) error {
	var b strings.Builder
	prefixed(&b, style.wrap(Error, "error:")+" ", shorten(p.Message))
	for _, hint := range p.Hints {
		prefixed(&b, style.wrap(Hint, "hint:")+" ", shorten(hint))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// JSON writes {"error":{"kind","message","hints":[]}} on one line.
func (p Problem) JSON(w io.Writer) error {
	short := Problem{Kind: p.Kind, Message: shorten(p.Message), Hints: []string{}} // never null: the member is a list
	for _, hint := range p.Hints {
		short.Hints = append(short.Hints, shorten(hint))
	}
	return JSON(w, map[string]Problem{"error": short})
}

// Warn writes "warning:" lines.
func Warn(w io.Writer, style Style, message string) error {
	var b strings.Builder
	prefixed(&b, style.wrap(Warning, "warning:")+" ", shorten(message))
	_, err := io.WriteString(w, b.String())
	return err
}

// longWord matches words of more than 1000 characters. No name of a file, ref or remote is that
// long.
var longWord = lazy.Pattern(`\S{1000}\S+`)

// shorten cuts the middle out of such words. A command line or a document may contain 100,000
// characters without a space, and an error message repeats what it is about.
func shorten(text string) string {
	if len(text) <= 1000 {
		return text
	}
	return longWord().ReplaceAllStringFunc(text, func(word string) string {
		r := []rune(word)
		return string(r[:60]) + "…" + string(r[len(r)-19:])
	})
}

// prefixed appends the lines of text, each escaped and after a prefix, which may contain color codes.
func prefixed(b *strings.Builder, prefix, text string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(EscapeLines(text), "\n"), "\n") {
		b.WriteString(strings.TrimRight(prefix+line, " "))
		b.WriteByte('\n')
	}
}
