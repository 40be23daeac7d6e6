package guard

import "bytes"

// shortest is the length of the shortest value that is a secret, in bytes.
const shortest = 6

// valueAt finds the value that begins at an offset, after a name and the operator that assigns: in
// quotes, or a bare word that ends the line or the element. The offsets that it returns are without
// the quotes. A value has no spaces. within is the quote before the name, which ends a bare value;
// 0 without.
func valueAt(text []byte, at int, within byte) (from, to int, found bool) {
	if at < len(text) && bytes.IndexByte([]byte(quotes), text[at]) >= 0 {
		// The operator's pattern took the escape of a quote in a string within a string.
		escaped := at > 0 && text[at-1] == '\\'
		if from, to, found = quotedAt(text, at+1, text[at], escaped); found {
			return from, to, to-from >= shortest
		}
	}
	// The operator's pattern also took what a bare value may begin with.
	for at > 1 && (text[at-1] == '\\' || text[at-1] == '=' && text[at-2] == '=') {
		at--
	}
	end := at
	for end < len(text) && !isSpace(text[end]) && !bytes.HasPrefix(text[end:], []byte("</")) {
		if text[end] == within && within != 0 {
			return at, end, end-at >= shortest
		}
		end++
	}
	return at, end, end-at >= shortest && endsLine(text[end:])
}

// quoteBefore returns the quote before the name around an offset, or 0.
func quoteBefore(text []byte, at int) byte {
	for at > 0 && inName(text[at-1]) {
		at--
	}
	if at > 0 && bytes.IndexByte([]byte(quotes), text[at-1]) >= 0 {
		return text[at-1]
	}
	return 0
}

// quotes begin and end a string in programming languages.
const quotes = "\"'`"

// quotedAt finds the end of a string. Only signs are escaped in a secret: other escapes,
// such as \x00, are those of binary data.
func quotedAt(text []byte, from int, quote byte, escaped bool) (start, end int, found bool) {
	for i := from; i < len(text) && !isSpace(text[i]); i++ {
		switch {
		case text[i] == quote:
			return from, i, i+1 == len(text) || !isWord(text[i+1])
		case text[i] != '\\':
		case asUnicode(text[i:]):
			i += len(`\u0026`) - 1
		case i+1 == len(text) || isWord(text[i+1]) || isSpace(text[i+1]):
			return 0, 0, false
		case escaped && text[i+1] == quote:
			return from, i, true
		default:
			i++
		}
	}
	return 0, 0, false
}

// asUnicode reports whether text begins with an escape such as \u0026, which some JSON encoders
// write for characters that have a meaning in HTML.
func asUnicode(text []byte) bool {
	return len(text) >= 6 && bytes.HasPrefix(text, []byte(`\u00`)) && '2' <= text[4] && text[4] <= '7' && hexadecimal().Match(text[5:6])
}

// endsLine reports whether a bare value may end before this text: at a line's end, a comment,
// or the end of an element.
func endsLine(text []byte) bool {
	rest := bytes.TrimLeft(text, " \t")
	if len(rest) == 0 || rest[0] == '\n' || bytes.HasPrefix(rest, []byte("\r\n")) || bytes.HasPrefix(rest, []byte("</")) {
		return true
	}
	return rest[0] == '#' && len(rest) < len(text)
}

func isSpace(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' }
