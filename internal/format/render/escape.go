// Package render writes values for people and for programs: lines, tables, times, sizes, colors,
// JSON and errors.
//
// A View describes where the text goes: a terminal of some width (Aligned), or a file or pipe
// (Tabbed). Its methods Line, Text and Table take Spans, which are pieces of text with a Role such
// as Warning; a Style turns roles into colors. JSON and Lines write the answers of --json.
//
// File names, commit messages and records can contain escape sequences that act on a terminal, or
// characters that make text look like other text. So everything that leaves this package has been
// through Escape or TameJSON. The package is pure: it writes to the io.Writer that it gets and uses
// no terminal, clock or environment. Start reading with View and Escape.
package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// marksInARow is the maximum number of combining marks in a row. Living scripts need up to five.
// Without a limit, one cell could cover the screen, and it would have no width by which to cut it.
const marksInARow = 8

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// Escape makes s safe to show on one line. Whatever could act on a terminal or mislead a reader
// becomes visible, as \n, \x1b or \u202e: control characters, newlines and tabs included,
// bidirectional controls, invisible characters, and bytes that are not UTF-8. The result is for
// display and cannot be parsed back, because backslashes stay as they are.
func Escape(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	// A mark at the beginning would combine with whatever is shown before s.
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

// EscapeLines is Escape for text of several lines. Newlines stay, CRLF counts as one newline, and a
// tab becomes spaces up to the next multiple of eight columns.
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

// escapeTabbed escapes one line and expands its tabs.
func escapeTabbed(line string) string {
	parts := strings.Split(line, "\t")
	for i := range parts {
		parts[i] = Escape(parts[i])
	}
	return tabsToSpaces(strings.Join(parts, "\t"))
}

// tabsToSpaces expands the tabs of an escaped line.
func tabsToSpaces(line string) string {
	parts := strings.Split(line, "\t")
	var b strings.Builder
	column := 0
	for i, part := range parts {
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

// isPlain reports whether s is printable ASCII, which needs no escapes and is as wide as it is
// long.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// ordinary is a fast path before the Unicode tables. It accepts most characters of common text:
// printable ASCII, Latin, Greek, Cyrillic, kana, Han and Hangul. None of them is a combining mark
// or hostile.
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

// hostile reports whether r must not reach a terminal: C0 controls, DEL and C1 controls, which a
// terminal acts on; characters that reorder text; and invisible ones, which can hide text in other
// text. The two joiners are allowed because emoji, Persian and Indic scripts need them, and so are
// the few format characters that are visible.
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

// visible returns the escape sequence that is shown for r.
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
