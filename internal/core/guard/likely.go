package guard

import (
	"bytes"
	"strings"
)

// Most names that contain a word such as "token" have no value beside them. This file rules these out without running
// a pattern, so that the scan of a program's source takes little more than reading it.

// mayTie rules out most names by the next few bytes, without running a pattern.
func mayTie(text []byte) bool {
	i := 0
	for i < len(text) && i < 48 && bytes.IndexByte([]byte(" \t\"'`])*\\%"), text[i]) >= 0 {
		i++
	}
	if i == len(text) {
		return false
	}
	if bytes.IndexByte([]byte("=:>,?<-|;[+}(\r\n/"), text[i]) >= 0 {
		return true
	}
	// A sentence or an option: a word with a digit has to follow.
	line := text[i:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return bytes.ContainsAny(line[:min(len(line), 120)], "0123456789>")
}

// promises reports whether anything around a name looks like a value, without running a pattern: most names in
// programs have no such neighbor.
func promises(text []byte, from, to int, of promise) bool {
	member := isMember(text[:from])
	after := text[to:min(len(text), to+far)]
	lines := 1
	if line := bytes.IndexByte(after, '\n'); line >= 0 && line < 40 || member {
		lines = 6
	}
	if hasValue(after, lines) || of == words12 {
		return true
	}
	if member {
		return hasValue(text[max(0, from-far):from], 6)
	}
	return of == password && hasValue(text[max(0, from-60):from], 6)
}

// hasValue reports whether a text has a word in its first lines that may be a secret: with a digit or a sign, or long
// and no word, or four groups of letters.
func hasValue(text []byte, lines int) bool { //nolint:gocyclo // one question about the text after the other
	from, letters, digits, marks := 0, 0, 0, 0
	for i := 0; i <= len(text); i++ {
		var of byte
		if i < len(text) {
			of = inValue[text[i]]
		}
		switch of {
		case 'a':
			letters++
			continue
		case '0':
			digits++
			continue
		case '!':
			if i > from {
				marks++
			}
			continue
		case '.':
			continue
		case '(', '"':
			if from <= 24 && (of == '(' || i > from) {
				continue
			}
		}
		least := shortest // right after an operator; else, only what a program made is one
		if from > 24 {
			least = 10
		}
		if n := i - from; n >= least && (letters > 0 && digits+marks > 0 || digits > 0 && marks > 0 || digits > 11 || n >= 12 && !isWordy(text[from:i])) || n == 4 && inGroups(text[from:]) {
			return true
		}
		from, letters, digits, marks = i+1, 0, 0, 0
		if i < len(text) && text[i] == '\n' {
			if lines--; lines == 0 {
				return false
			}
		}
	}
	return false
}

// inValue has the kind of each byte of a value: a letter, a digit, a sign, one that is frequent between words, too, or a
// bracket or a quote, which a value has only right behind an operator.
var inValue = func() (kinds [256]byte) {
	for b := range 128 {
		switch {
		case isDigit(byte(b)):
			kinds[b] = '0'
		case isLetter(byte(b)):
			kinds[b] = 'a'
		case strings.IndexByte("!@#$%^&*", byte(b)) >= 0:
			kinds[b] = '!'
		case strings.IndexByte("_+/=~.?:;|-", byte(b)) >= 0:
			kinds[b] = '.'
		case strings.IndexByte("(){}[]<>,\\", byte(b)) >= 0:
			kinds[b] = '('
		case strings.IndexByte("\"'`", byte(b)) >= 0:
			kinds[b] = '"'
		}
	}
	return kinds
}()

// inGroups reports whether a text begins with four groups of four letters.
func inGroups(text []byte) bool {
	for i := range 19 {
		if i == len(text) || (i%5 == 4) != (text[i] == ' ' || text[i] == '-') || i%5 < 4 && (text[i] < 'a' || text[i] > 'z') {
			return false
		}
	}
	return true
}

// heads reports whether a name may be the head of a column, without running a pattern.
func (n name) heads(text []byte) bool {
	i := n.to
	for i < len(text) && (text[i] == ' ' || quoteAt(text, i) != 0) {
		i++
	}
	if i == len(text) || bytes.IndexByte([]byte(",;\t|)\r\n"), text[i]) < 0 || bytes.ContainsAny(lineBefore(text[:n.from]), "=:{") {
		return false
	}
	end := bytes.IndexByte(text[i:], '\n')
	return end >= 0 && (hasValue(text[i+end+1:], 2) || bytes.Contains(bytes.ToLower(text[i:i+end]), []byte("values")))
}
