package render

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain ~", "plain ~"},
		{"", ""},
		{"größe 変更 ok ☑ 🙂", "größe 変更 ok ☑ 🙂"},
		{"a\nb\tc\rd", `a\nb\tc\rd`},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"\x1b]0;title\x07", `\x1b]0;title\x07`},
		{"nul\x00del\x7f", `nul\x00del\x7f`},
		{"csi \u009b2J, nel \u0085", `csi \u009b2J, nel \u0085`},
		{"raw csi \x9b2J", `raw csi \x9b2J`},
		{"\xff\xc3(", `\xff\xc3(`},
		{"user\u202e\u2066txt.exe", `user\u202e\u2066txt.exe`},
		{"\u200e\u200f\u061c", `\u200e\u200f\u061c`},
		{"li\u2028ne\u2029s", `li\u2028ne\u2029s`},
		{"zero\u200bwidth\ufeff\u2060\u00ad", `zero\u200bwidth\ufeff\u2060\u00ad`},
		{"tags \U000e0041", `tags \U000e0041`},
		{"filler \u3164\u115f", `filler \u3164\u115f`},
		{"\ufffe\U0001ffff", `\ufffe\U0001ffff`},
		{"می\u200cخواهم 👩\u200d👧 ❤\ufe0f", "می\u200cخواهم 👩\u200d👧 ❤\ufe0f"},
		{"replacement \ufffd", "replacement \ufffd"},
		{`C:\new`, `C:\new`},
		{"\u0301\u0301 \u200dx", `\u0301` + "\u0301 \u200dx"},
		{"é" + strings.Repeat("\u0301", 9), "é" + strings.Repeat("\u0301", 8) + `\u0301`},
	} {
		if got := Escape(c.in); got != c.want {
			t.Errorf("Escape(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestEscapeLines(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"one\ntwo\n", "one\ntwo\n"},
		{"dos\r\nfile\r", "dos\nfile" + `\r`},
		{"a\tb\n12345678\tc", "a       b\n12345678        c"},
		{"変更\tx", "変更    x"},
		{"\x1b[2J\n\x9b", `\x1b[2J` + "\n" + `\x9b`},
	} {
		if got := EscapeLines(c.in); got != c.want {
			t.Errorf("EscapeLines(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// Every code point alone: what is not shown as it is stands in the output as ASCII.
func TestEscapeEveryRune(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		if bad := firstBad(Escape(string(r))); bad != "" {
			t.Fatalf("Escape(%U) lets through %s", r, bad)
		}
		if ordinary(r) && (hostile(r) || unicode.Is(unicode.M, r)) {
			t.Fatalf("%U is taken for ordinary", r)
		}
		if !hostile(r) && !unicode.IsPrint(r) && unicode.In(r, unicode.C, unicode.Z) &&
			!unicode.In(r, unicode.Cn, unicode.Co, unicode.Zs, unicode.Prepended_Concatenation_Mark, unicode.Join_Control) {
			t.Fatalf("%U is neither printable nor escaped", r)
		}
	}
}

func TestEscapeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := hostileText().Draw(t, "text")
		one, many := Escape(s), EscapeLines(s)
		if bad := firstBad(one); bad != "" {
			t.Fatalf("Escape lets through %s in %q", bad, one)
		}
		if bad := firstBad(strings.ReplaceAll(many, "\n", "")); bad != "" {
			t.Fatalf("EscapeLines lets through %s in %q", bad, many)
		}
		if strings.Count(many, "\n") != strings.Count(s, "\n") {
			t.Fatalf("EscapeLines changed the number of lines: %q", many)
		}
		if Escape(one) != one || EscapeLines(many) != many {
			t.Fatalf("escaping twice differs from once: %q", s)
		}
	})
}

func FuzzEscape(f *testing.F) {
	f.Add("\x1b]8;;http://x\x07 \u009b \x9b \u202e \t\r\n")
	f.Add("👩\u200d👧\u0301\u0301\xf0\x9f")
	f.Fuzz(func(t *testing.T, s string) {
		if bad := firstBad(Escape(s)); bad != "" {
			t.Fatalf("Escape(%q) lets through %s", s, bad)
		}
		if bad := firstBad(strings.ReplaceAll(EscapeLines(s), "\n", "")); bad != "" {
			t.Fatalf("EscapeLines(%q) lets through %s", s, bad)
		}
	})
}

// firstBad checks bytes and code points by rules of its own, not by hostile.
func firstBad(s string) string {
	marks := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && size == 1:
			return "a byte that is not UTF-8"
		case unicode.IsControl(r):
			return "a control character"
		case unicode.Is(unicode.Bidi_Control, r):
			return "a bidirectional control"
		case r == 0x2028, r == 0x2029, r == 0xfeff, r == 0x200b, r >= 0xe0000 && r < 0xe0100:
			return "an invisible character"
		case marks > marksInARow:
			return "a pile of marks"
		}
	}
	return ""
}

// hostileText draws text rich in what must not reach a terminal.
func hostileText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\x1b[31m", "\x1b]0;x\x07", "\u009b", "\x9b", "\xff", "\xc3", "\xe2\x80", "\r\n", "\n", "\t", "\r", "\x7f",
			"\u202e", "\u2066", "\u2028", "\ufeff", "\u200d", "👩\u200d👧", "変更", "e\u0301", "\u0301\u0301\u0301\u0301\u0301",
			"🇩🇪", "\u0600", "\U000e0041", "word", " ", "…", "\\",
		}),
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 12), func(p []string) string { return strings.Join(p, "") })
}
