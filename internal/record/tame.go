package record

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// What a commit message holds at most of the user's own words; the record has
// them all.
const (
	maxMessage = 64 << 10
	maxValue   = 256
)

// indent is put before a line that git, or ParseMessage, would take for more than
// words.
const indent = "    "

// special are the lines to indent: what scissors, the divider of a patch, the
// armour of a signature ("-----BEGIN"), a signature header or one of our trailers
// and headings begins with.
var special = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^ *(---|gpgsig|Checkpoint-|(Topic|Files changed|Metrics):|(\S{0,8}[ \t]*-[- ]*)?(>8|8<|>%|%<))`)
})

// paragraphs makes a message fit for a commit: no byte that a C string or a
// terminal takes for something else, no line that is special, no blank line at
// either end.
func paragraphs(message string) string {
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

// tame replaces control characters other than newline and tab by their pictures:
// git's C strings end at a NUL, and `git log` shows the rest raw.
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

// oneLine makes a text fit for a trailer or a heading: one line, no blanks at its
// ends, at most limit runes.
func oneLine(text string, limit int) string {
	if text = strings.Trim(text, " \n"); len(text) <= limit && isPlain(text) {
		return text
	}
	text = tame(clip(text, 4*limit+4*utf8.UTFMax))
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= limit {
		return string(runes)
	}
	return strings.TrimSpace(string(runes[:limit-1])) + "…"
}

// isPlain reports whether oneLine has nothing to do: list calls it for every
// trailer of every checkpoint.
func isPlain(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] <= ' ' && (text[i] != ' ' || text[i-1] == ' ') || text[i] >= 0x7f {
			return false
		}
	}
	return true
}

// firstLine is the first line of a message as list shows it.
func firstLine(message string) string {
	first, _, _ := strings.Cut(paragraphs(message), "\n")
	return oneLine(first, maxValue)
}

// firstWords cuts at the end of a word, where there is one.
func firstWords(text string, limit int) string {
	short := oneLine(text, limit)
	if short == oneLine(text, maxValue) {
		return short
	}
	if i := strings.LastIndexByte(short, ' '); i > limit/2 {
		return short[:i] + "…"
	}
	return short
}
