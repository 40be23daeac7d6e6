package journal

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// quote writes a value of a trailer on one line, so that no value can be read as a
// line of its own. Most values stand as they are; the others become a quoted string
// with \" \\ \n \t \r, and \xNN for each byte of what should not meet a terminal.
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

// unquote is the inverse of quote and refuses what quote would not have let stand.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		if !isPlain(s) {
			return "", errors.New("a value that should be quoted is not")
		}
		return s, nil
	}
	if len(s) < 2 || !strings.HasSuffix(s, `"`) {
		return "", errors.New("a quoted value does not end")
	}
	s = s[1 : len(s)-1]
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '"' {
			return "", errors.New("a quoted value has an unescaped quote")
		}
		if c != '\\' {
			b = append(b, c)
			continue
		}
		c, size, err := unescape(s[i+1:])
		if err != nil {
			return "", err
		}
		b = append(b, c)
		i += size
	}
	return string(b), nil
}

// unescape reads what follows a backslash.
func unescape(s string) (c byte, size int, err error) {
	if s == "" {
		return 0, 0, errors.New("a quoted value ends in a backslash")
	}
	switch s[0] {
	case '"', '\\':
		return s[0], 1, nil
	case 'n':
		return '\n', 1, nil
	case 't':
		return '\t', 1, nil
	case 'r':
		return '\r', 1, nil
	case 'x':
		if len(s) >= 3 {
			hi, lo := strings.IndexByte(hexDigits, s[1]), strings.IndexByte(hexDigits, s[2])
			if hi >= 0 && lo >= 0 {
				return byte(hi<<4 | lo), 3, nil
			}
		}
	}
	return 0, 0, errors.New("a quoted value has an unknown escape")
}

// isPlain reports whether v may stand in a trailer as it is.
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

// isUnsafe reports a rune that moves a cursor, breaks a line or turns the direction
// of text, and a byte that is no UTF-8 at all.
func isUnsafe(r rune, size int) bool {
	switch {
	case r == utf8.RuneError && size <= 1:
		return true
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return true
	case r < 0x2028:
		return r == 0x200e || r == 0x200f || r == 0x061c
	}
	return r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0xfeff || unicode.Is(unicode.Zl, r)
}
