// Package render owns how values look to people and programs: text, tables, times,
// sizes, colour, JSON. It is pure: it writes to the io.Writer it is handed and knows
// no terminal, no clock and no environment. It refuses to pass on a character that a
// terminal would obey, and every text that leaves it went through Escape.
package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// marksInARow is how many combining marks may follow each other. Living scripts need
// five; without a bound one cell draws over the screen and has no width to cut it by.
const marksInARow = 8

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// Escape makes s safe to show on one line: what a terminal or a reader's eye would be
// misled by (control characters, newlines and tabs too, bidirectional controls,
// invisible characters, bytes that are not UTF-8) becomes visible, such as \n, \x1b or
// \u202e. It is for eyes, not for parsing: a backslash stays as it is.
func Escape(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	// A mark at the beginning would sit on whatever is shown before s.
	marks := marksInARow
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if ordinary(r) {
			marks = 0
			b.WriteString(s[i : i+size])
			i += size
			continue
		}
		if unicode.Is(unicode.M, r) || r == zeroWidthJoiner || r == zeroWidthNonJoiner {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case marks > marksInARow || hostile(r):
			marks = 0
			b.WriteString(visible(r))
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// EscapeLines is Escape for text of several lines: newlines stay, CRLF counts as one,
// and a tab becomes spaces up to the next column that eight divides.
func EscapeLines(s string) string {
	if isPlain(s) {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if i < len(lines)-1 {
			line = strings.TrimSuffix(line, "\r")
		}
		lines[i] = escapeTabbed(line)
	}
	return strings.Join(lines, "\n")
}

func escapeTabbed(line string) string {
	parts := strings.Split(line, "\t")
	var b strings.Builder
	column := 0
	for i, part := range parts {
		part = Escape(part)
		b.WriteString(part)
		if i == len(parts)-1 {
			break
		}
		column += Width(part)
		gap := 8 - column%8
		b.WriteString(strings.Repeat(" ", gap))
		column += gap
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// ordinary is a shortcut past the slow tables for what most text consists of: printable
// ASCII, Latin, Greek, Cyrillic, kana, Han, Hangul. It holds no mark and nothing hostile.
func ordinary(r rune) bool {
	switch {
	case r < 0x300:
		return 0x20 <= r && r < 0x7f || 0xa0 <= r && r != 0xad
	case r < 0x530:
		return 0x370 <= r && r < 0x483 || 0x48a <= r
	}
	return 0x3041 <= r && r < 0x3097 || 0x30a1 <= r && r < 0x3100 ||
		0x4e00 <= r && r < 0xa000 || 0xac00 <= r && r < 0xd7a4
}

// hostile holds what a terminal obeys (C0, DEL, C1), what reorders text, and what
// cannot be seen and so can hide a text in another. The joiners stay: emoji, Persian
// and Indic scripts need them. So do the few format characters that have a shape.
func hostile(r rune) bool {
	switch {
	case r < 0x7f:
		return r < 0x20
	case r == zeroWidthJoiner, r == zeroWidthNonJoiner:
		return false
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
}

func visible(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
