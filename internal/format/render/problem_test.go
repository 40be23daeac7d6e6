package render

import (
	"strings"
	"testing"
)

// An error that repeats a word of a megabyte stays short, as text and as JSON. Anything that can be
// a file name stays complete.
func TestProblemIsShort(t *testing.T) {
	long, path := `"`+strings.Repeat("é", 1<<20)+`"`, strings.Repeat("p", 900)
	p := Problem{Kind: "usage", Message: "no remote " + long + " in " + path, Hints: []string{"not " + long}}
	for name, write := range map[string]func(*strings.Builder) error{
		"text": func(b *strings.Builder) error { return p.Text(b, Style(0)) },
		"JSON": func(b *strings.Builder) error { return p.JSON(b) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); len(got) > 1500 || !strings.Contains(got, path) || strings.Count(got, "é…é") != 2 {
			t.Errorf("%s has %d bytes: %.200s", name, len(got), got)
		}
	}
}
