package render

import (
	"io"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
)

// Layout tells for whom a text is laid out.
type Layout uint8

// The layouts. Tabbed, the zero value, is for programs: fields separated by tabs, absolute times,
// full hashes, sizes in bytes. Aligned is for people at a terminal.
const (
	Tabbed Layout = iota
	Aligned
)

// View describes how to show values. The zero View is for programs.
type View struct {
	Layout Layout
	Style  Style
	Width  int       // columns of the terminal; 0: unlimited
	Now    time.Time // the time that relative times refer to
	Clock  bool      // people also see the time itself, in UTC, because they read the answer later

	Verbose bool // checkpoints have their labels and ids, which programs of before read
}

// Span is a piece of text with a role. The text is escaped when it is written.
type Span struct {
	Role Role
	Text string
}

// Time returns t relative to Now for people, and as RFC 3339 in UTC for programs. It is empty for
// the zero time.
func (v View) Time(t time.Time) string {
	if v.Layout == Aligned {
		return Ago(t, v.Now) + v.clock(t)
	}
	return UTC(t)
}

// Age returns t as Time does, in few columns for people.
func (v View) Age(t time.Time) string {
	if v.Layout == Aligned {
		return Age(t, v.Now) + v.clock(t)
	}
	return UTC(t)
}

// clock returns what follows a relative time.
func (v View) clock(t time.Time) string {
	if !v.Clock || t.IsZero() {
		return ""
	}
	return t.UTC().Format(", 2006-01-02 15:04Z")
}

// OID returns an object id, abbreviated for people.
func (v View) OID(o name.OID) string {
	if v.Layout == Aligned {
		return o.Short()
	}
	return string(o)
}

// Size returns a number of bytes, with a unit for people.
func (v View) Size(bytes int64) string {
	if v.Layout == Aligned {
		return Size(bytes)
	}
	return strconv.FormatInt(bytes, 10)
}

// Line writes spans one after the other and a newline. People get what is wider than the terminal on several lines.
func (v View) Line(w io.Writer, spans ...Span) error {
	escaped := make(Cell, len(spans))
	for i, s := range spans {
		escaped[i] = Span{s.Role, Escape(s.Text)}
	}
	lines := []Cell{escaped}
	if v.Layout == Aligned && v.Width > 0 && escaped.width() > v.Width {
		lines = escaped.lines(v.Width)
	}
	var b strings.Builder
	for _, line := range lines {
		for _, s := range line {
			b.WriteString(v.Style.wrap(s.Role, s.Text))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Text writes text of one or more lines, each after the prefix, and ends the last line. Trailing
// spaces are removed, so that empty lines stay empty.
func (v View) Text(w io.Writer, prefix, text string) error {
	var b strings.Builder
	prefixed(&b, Escape(prefix), text)
	_, err := io.WriteString(w, b.String())
	return err
}
