package record

// This file makes text from users and agents safe for a commit message. Such a text could act on
// the terminal of whoever runs git log, pass for a trailer, or be cut off by git commands that look
// for scissors or patches.

import (
	"strings"
	"unicode/utf8"

	"git-checkpoint/internal/sys/lazy"
)

// Limits of texts in a commit message: maxMessage in bytes, maxValue in characters. The record has
// the full text.
const (
	maxMessage = 64 << 10
	maxValue   = 256
)

// special matches the beginning of such lines: scissors, the divider before a patch ("---"), the
// armor of a signature ("-----BEGIN"), a signature header, and our own trailers and headings.
var special = lazy.Pattern(`(?i)^ *(---|gpgsig|Checkpoint-|(Topic|Files changed|Metrics):|(\S{0,8}[ \t]*-[- ]*)?(>8|8<|>%|%<))`)

// paragraphs returns a message that is safe in a commit: without control characters, without
// special lines, and without blank lines at either end.
func paragraphs(message string) string {
	const indent = "    " // inserted before a line that git or ParseMessage would misinterpret
	text := tame(clip(message, maxMessage))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, " \t")
		if special().MatchString(line) {
			line = indent + line
		}
		lines[i] = line
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// tame replaces control characters other than newline and tab by their Unicode pictures. git's C
// strings end at a NUL, and git log writes the others to the terminal. C1 controls have no pictures
// and become U+FFFD.
func tame(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || !isControl(r):
			return r
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7f:
			return 0x2421
		}
		return utf8.RuneError
	}, text)
}

// oneLine returns a text as one line of at most limit characters, with each run of white space as
// one space. It is used for trailers and headings.
func oneLine(text string, limit int) string {
	if text = strings.Trim(text, " \n"); len(text) <= limit && isPlain(text) {
		return text
	}
	// Bound the work for long texts: no more bytes than this can matter.
	text = tame(clip(text, 4*limit+4*utf8.UTFMax))
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= limit {
		return string(runes)
	}
	return strings.TrimSpace(string(runes[:limit-1])) + "…"
}

// isPlain reports whether oneLine has nothing to change. It is the fast path: a list calls oneLine
// for every trailer of every checkpoint. text must have no spaces at its ends.
func isPlain(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] <= ' ' && (text[i] != ' ' || text[i-1] == ' ') || text[i] >= 0x7f {
			return false
		}
	}
	return true
}

// firstLine returns the first line of a message in the form that lists show.
func firstLine(message string) string {
	first, _, _ := strings.Cut(paragraphs(message), "\n")
	return oneLine(first, maxValue)
}

// FirstWords shortens text to limit characters, if possible at the end of a word.
func FirstWords(text string, limit int) string {
	short := oneLine(text, limit)
	if short == oneLine(text, maxValue) {
		return short
	}
	if i := strings.LastIndexByte(short, ' '); i > limit/2 {
		return short[:i] + "…"
	}
	return short
}
