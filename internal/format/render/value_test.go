package render

import (
	"math"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"pgregory.net/rapid"
)

// The answers are git's own, for commits of that age and --date=relative.
func TestAgo(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		seconds int64
		want    string
	}{
		{-1, "in the future"},
		{0, "0 seconds ago"},
		{1, "1 second ago"},
		{89, "89 seconds ago"},
		{90, "2 minutes ago"},
		{149, "2 minutes ago"},
		{150, "3 minutes ago"},
		{5369, "89 minutes ago"},
		{5370, "2 hours ago"},
		{7199, "2 hours ago"},
		{128000, "2 days ago"},
		{691200, "8 days ago"},
		{1166399, "2 weeks ago"},
		{6004800, "2 months ago"},
		{31492800, "1 year ago"},
		{33000000, "1 year, 1 month ago"},
		{63072000, "2 years ago"},
		{78840000, "2 years, 6 months ago"},
		{157600000, "5 years ago"},
		{157723200, "5 years ago"},
		{200000000, "6 years ago"},
	} {
		if got := Ago(now.Add(-time.Duration(c.seconds)*time.Second), now); got != c.want {
			t.Errorf("%d seconds: %q, want %q", c.seconds, got, c.want)
		}
	}
	if got := Ago(time.Time{}, now); got != "" {
		t.Errorf("no time: %q", got)
	}
	if got := Ago(time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC), now); got != "1025 years ago" {
		t.Errorf("the year 1000, in years of 365 days: %q", got)
	}
}

func TestUTC(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 43, 11, 123e6, time.FixedZone("", 3600))
	if got := UTC(at); got != "2026-11-20T09:43:11Z" {
		t.Errorf("got %q", got)
	}
	if got := UTC(time.Time{}); got != "" {
		t.Errorf("no time: %q", got)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0:             "0 B",
		1023:          "1023 B",
		1024:          "1.0 KiB",
		1258291:       "1.2 MiB",
		1048575:       "1.0 MiB",
		1<<30 - 1:     "1.0 GiB",
		734003200:     "700.0 MiB",
		math.MaxInt64: "8.0 EiB",
		-2048:         "-2.0 KiB",
		-1048575:      "-1.0 MiB",
	} {
		if got := Size(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 entries", 1: "1 entry", 2: "2 entries"} {
		if got := Count(n, "entry", "entries"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestView(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	oid := name.OID(strings.Repeat("1a2b", 10))
	people, programs := View{Layout: Aligned, Now: now}, View{Now: now}
	for _, c := range []struct{ got, want string }{
		{people.Time(now.Add(-3 * time.Minute)), "3 minutes ago"},
		{programs.Time(now), "2023-11-14T22:13:20Z"},
		{people.OID(oid), "1a2b1a2"},
		{programs.OID(oid), string(oid)},
		{people.Size(2048), "2.0 KiB"},
		{programs.Size(2048), "2048"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestLineAndText(t *testing.T) {
	var b strings.Builder
	v := View{Style: Coloured}
	if err := v.Line(&b, Span{Success, "✓ "}, Span{Text: "made "}, Span{ID, "cp\n03"}); err != nil {
		t.Fatal(err)
	}
	if err := v.Text(&b, "    ", "first\n\n\x1b[2Jsecond\n"); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[32m✓ \x1b[0mmade \x1b[33mcp\\n03\x1b[0m\n" +
		"    first\n\n    \\x1b[2Jsecond\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestStyleOfScreen(t *testing.T) {
	good := Screen{Terminal: true, Term: "xterm"}
	for _, c := range []struct {
		setting string
		screen  Screen
		want    Style
	}{
		{"auto", good, Coloured},
		{"true", good, Coloured},
		{"AUTO", Screen{Term: "xterm"}, Plain},
		{"auto", Screen{Terminal: true, Term: "dumb"}, Plain},
		{"auto", Screen{Terminal: true}, Plain},
		{"auto", Screen{Terminal: true, Term: "xterm", NoColor: "1"}, Plain},
		{"never", good, Plain},
		{"false", good, Plain},
		{"", good, Coloured},
		{"purple", Screen{Terminal: true, Term: "dumb"}, Plain},
		{"always", Screen{NoColor: "1", Term: "dumb"}, Coloured},
	} {
		if got := c.screen.Style(c.setting); got != c.want {
			t.Errorf("%q on %+v: %v", c.setting, c.screen, got)
		}
	}
}

// Each role but Normal has a colour, and a plain style has none.
func TestPaint(t *testing.T) {
	for role := Normal; role <= Heading; role++ {
		if got := Plain.Paint(role, "x\x1by"); got != `x\x1by` {
			t.Errorf("plain %d: %q", role, got)
		}
		got := Coloured.Paint(role, "x\x1by")
		if colourCode.ReplaceAllString(got, "") != `x\x1by` {
			t.Errorf("%d: %q", role, got)
		}
		if (got == `x\x1by`) != (role == Normal) {
			t.Errorf("%d: colour of %q", role, got)
		}
	}
	if got := Coloured.Paint(Error, ""); got != "" {
		t.Errorf("empty text: %q", got)
	}
}

// Whatever a caller hands in, no text output holds a control character but newlines
// and the colours of the style.
func TestNoOutputIsHostile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := hostileText().Draw(t, "text")
		var b strings.Builder
		v := View{Style: rapid.SampledFrom([]Style{Plain, Coloured}).Draw(t, "style")}
		for _, err := range []error{
			v.Line(&b, Span{Error, s}, Span{Dim, s}),
			v.Text(&b, s, s),
			Problem{"kind", s, []string{s, s}}.Text(&b, v.Style),
			Warn(&b, v.Style, s),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		text := strings.ReplaceAll(colourCode.ReplaceAllString(b.String(), ""), "\n", "")
		if bad := firstBad(text); bad != "" {
			t.Fatalf("%s in %q", bad, b.String())
		}
	})
}

// An age takes at most six columns, and says what Ago says.
func TestAge(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		seconds int64
		want    string
	}{{0, "0s"}, {89, "89s"}, {90, "2m"}, {3600, "60m"}, {7200, "2h"}, {3 * 86400, "3d"}, {20 * 86400, "3w"}, {100 * 86400, "3mo"}, {500 * 86400, "1y"}, {-5, "later"}} {
		if got := Age(now.Add(-time.Duration(c.seconds)*time.Second), now); got != c.want {
			t.Errorf("%d seconds: %q, want %q", c.seconds, got, c.want)
		}
	}
	if got := Age(time.Time{}, now); got != "" {
		t.Errorf("no time: %q", got)
	}
}
