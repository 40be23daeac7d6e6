package render

import (
	"io"
	"strings"
)

// Problem is what went wrong: a kind for programs, a message and what to do about it.
type Problem struct {
	Kind    string
	Message string
	Hints   []string
}

// Text writes "error:" lines, then "hint:" lines. A message of several lines gets the
// word before each, so that every line of stderr says what it is.
func (p Problem) Text(w io.Writer, style Style) error {
	var b strings.Builder
	prefixed(&b, style.wrap(Error, "error:"), p.Message)
	for _, hint := range p.Hints {
		prefixed(&b, style.wrap(Hint, "hint:"), hint)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// JSON writes {"error":{"kind","message","hints":[]}} on one line.
func (p Problem) JSON(w io.Writer) error {
	type members struct {
		Kind    string   `json:"kind"`
		Message string   `json:"message"`
		Hints   []string `json:"hints"`
	}
	m := members(p)
	if m.Hints == nil {
		m.Hints = []string{} // never null: the member is a list
	}
	return JSON(w, struct {
		Error members `json:"error"`
	}{m})
}

// Warn writes "warning:" lines.
func Warn(w io.Writer, style Style, message string) error {
	var b strings.Builder
	prefixed(&b, style.wrap(Warning, "warning:"), message)
	_, err := io.WriteString(w, b.String())
	return err
}

func prefixed(b *strings.Builder, word, text string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(EscapeLines(text), "\n"), "\n") {
		b.WriteString(strings.TrimRight(word+" "+line, " "))
		b.WriteByte('\n')
	}
}
