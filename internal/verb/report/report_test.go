package report

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// No path from the root comes out, and no address.
func TestShorn(t *testing.T) {
	for _, c := range [][2]string{
		{"see /home/ann/src/a.go:3", "see [path]:3"}, {"in `/etc/passwd`", "in `[path]`"}, {"x=/var/lib/y", "x=[path]"},
		{`C:\Users\ann\a.go`, "[path]"}, {"file:///home/ann", "[path]"}, {"~/secret/notes", "[path]"}, {"ask ann.b@example.co.uk now", "ask [address] now"},
		{"https://example.com/a/b and src/a/b.go and a/b", "https://example.com/a/b and src/a/b.go and a/b"}, {"either/or 1/2", "either/or 1/2"},
	} {
		if got := shorn(c[0]); got != c[1] {
			t.Errorf("%q: %q, not %q", c[0], got, c[1])
		}
	}
}

// Markdown is what it is meant to be whatever a prompt has: a fence is longer than any in the text, HTML is
// escaped, a table has its columns; and it is not too long for a comment.
func TestMarkdown(t *testing.T) {
	a := &Answer{Range: "a`b..", Agents: []Worker{{"cl|aude", "", 1}}, Outside: []string{"x`y\nz"}}
	a.Steps = []Step{{Session: "s", Step: 1, Checkpoint: "cp", Prompt: "</summary></details> @all #1 <script>", Message: "```\n````go\nx\n````\n", Files: []string{"a`b", "<b>"}, Checks: map[string]string{"a|b": "1"}}}
	text := a.Markdown()
	for _, want := range []string{
		"1. <code>&lt;/summary&gt;&lt;/details&gt; @all #1 &lt;script&gt;</code> (step 1 of s)</summary>\n\n`````text\n", "- `<b>`\n",
		"| `cl\\|aude` |  | 1 |", "| `a\\|b` | `1` |", "- `` a`b ``\n", "- `` x`y z ``\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if text != a.Markdown() {
		t.Error("it differs the second time")
	}
	if page := a.HTML(); strings.Contains(page, "<script") || strings.Contains(page, "<b>") {
		t.Errorf("%s", page)
	}
	for i := range 500 {
		a.Steps = append(a.Steps, Step{Session: "s", Checkpoint: "cp", Prompt: strings.Repeat("ü", 900), Files: []string{fmt.Sprint(i)}})
		a.Unknown = append(a.Unknown, strings.Repeat("p", 2000))
	}
	text = a.Markdown()
	if n := utf8.RuneCountInString(text); n >= 65_536 {
		t.Errorf("%d characters", n)
	}
}
