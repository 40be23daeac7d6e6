package journal

// This file quotes the values of trailers. Without quoting, a value with a newline could add a
// trailer of its own, and one with terminal controls could act on the terminal of whoever runs git
// log.

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"git-checkpoint/internal/sys/lazy"
)

const hexDigits = "0123456789abcdef"

// quote returns v in the form in which a trailer holds it, always on one line. Most values stay as
// they are. Others become a double-quoted string with \" \\ \n \t \r, and \xNN for each byte of any
// other unsafe character.
func quote(v string) string {
	if isPlain(v) {
		return v
	}
	var b strings.Builder
	b.Grow(len(v) + 8)
	b.WriteByte('"')
	for i := 0; i < len(v); {
		r, size := utf8.DecodeRuneInString(v[i:])
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteByte(v[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case isUnsafe(r, size):
			for _, c := range []byte(v[i : i+size]) {
				b.WriteString(`\x`)
				b.WriteByte(hexDigits[c>>4])
				b.WriteByte(hexDigits[c&15])
			}
		default:
			b.WriteString(v[i : i+size])
		}
		i += size
	}
	b.WriteByte('"')
	return b.String()
}

// unquote is the inverse of quote. It returns an error for a value that quote would have quoted and
// for an unknown escape. It takes what quote would not have written but is clear: quotes without
// need, and an unsafe character without its escape. To refuse these would make the journal of
// another writer unreadable and protect nobody, since git log prints a message whatever it holds.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		if !isPlain(s) {
			return "", errors.New("a value that should be quoted is not")
		}
		return s, nil
	}
	if !quoted().MatchString(s) {
		return "", errors.New("a quoted value does not end, or has an unescaped quote or an unknown escape")
	}
	return escape().ReplaceAllStringFunc(s[1:len(s)-1], func(e string) string {
		text, _ := strconv.Unquote(`"` + e + `"`) //nolint:errcheck // Go has these escapes, too
		return text
	}), nil
}

var (
	escape = lazy.Pattern(anEscape)
	quoted = lazy.Pattern(`^"(?:[^"\\]|` + anEscape + `)*"$`)
)

// anEscape matches an escape sequence. Hex digits must be in lower case.
const anEscape = `\\(?:["\\ntr]|x[0-9a-f]{2})`

// isPlain reports whether v needs no quotes. Leading and trailing spaces need them because git and
// editors strip them, and an empty value because it would look like a missing one.
func isPlain(v string) bool {
	if v == "" || v[0] == '"' || v[0] == ' ' || v[len(v)-1] == ' ' {
		return false
	}
	for i := 0; i < len(v); {
		if c := v[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(v[i:])
		if isUnsafe(r, size) {
			return false
		}
		i += size
	}
	return true
}

// isUnsafe reports whether a decoded rune must be escaped: C0 and C1 controls, line and paragraph
// separators, bidirectional controls, the byte order mark, and bytes that are not valid UTF-8
// (RuneError of size 1).
func isUnsafe(r rune, size int) bool {
	switch {
	case r == utf8.RuneError && size <= 1:
		return true
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return true
	case r < 0x2028:
		return r == 0x200e || r == 0x200f || r == 0x061c
	}
	return r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0xfeff
}
