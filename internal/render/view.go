package render

import (
	"io"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/name"
)

// Layout says for whom a text is laid out.
type Layout uint8

// Tabbed, the zero value, is for programs: tab-separated, absolute times, whole
// hashes, bytes. Aligned is for people at a terminal.
const (
	Tabbed Layout = iota
	Aligned
)

// View is one way of showing values. The zero View is for programs.
type View struct {
	Layout Layout
	Style  Style
	Width  int       // columns of the terminal; 0: no limit
	Now    time.Time // for relative times
}

// Span is a piece of text with a meaning. Its text is escaped when it is shown.
type Span struct {
	Role Role
	Text string
}

// Time is relative for people, RFC 3339 in UTC for programs, empty for no time.
func (v View) Time(t time.Time) string {
	if v.Layout == Aligned {
		return Ago(t, v.Now)
	}
	return UTC(t)
}

// OID is short for people, whole for programs.
func (v View) OID(o name.OID) string {
	if v.Layout == Aligned {
		return o.Short()
	}
	return string(o)
}

// Size has a unit for people and is a number of bytes for programs.
func (v View) Size(bytes int64) string {
	if v.Layout == Aligned {
		return Size(bytes)
	}
	return strconv.FormatInt(bytes, 10)
}

// Line writes spans one after the other and ends the line.
func (v View) Line(w io.Writer, spans ...Span) error {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(v.Style.Paint(s.Role, s.Text))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// Text writes text that may have several lines, each with the prefix before it, and
// ends the last one. Empty lines get no trailing blanks.
func (v View) Text(w io.Writer, prefix, text string) error {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(EscapeLines(text), "\n"), "\n") {
		b.WriteString(strings.TrimRight(Escape(prefix)+line, " "))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
