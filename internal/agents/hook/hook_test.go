package hook

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Shortened prompts and answers end at a word or a line and within their limits.
func TestShortened(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{firstWords("  fix\tthe   bug\nand more"), "fix the bug"},
		{firstWords(""), ""},
		{firstParagraph("Done.\r\nReally.\r\n\r\nMore."), "Done.\nReally."},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	long := firstWords(strings.Repeat("word ", 100))
	if utf8.RuneCountInString(long) > 72 || !strings.HasSuffix(long, "word…") {
		t.Errorf("%q", long)
	}
}
