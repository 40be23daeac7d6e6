package interop

import (
	"runtime"
	"strings"
	"testing"
)

// Documents with unbounded nesting or copying are refused before the parser recurses into them. The
// test measures the bytes allocated, because that does not depend on the machine.
func TestHostileYAML(t *testing.T) {
	twice := func(open, shut string, n int) string { return strings.Repeat(open, n) + strings.Repeat(shut, n) }
	for about, c := range map[string]struct{ text, says string }{
		"brackets":               {"x: " + twice("[", "]", 20_000), "line 1: nested more than 95 deep"},
		"brackets on many lines": {"x:\n" + twice(" [\n", " ]\n", 5_000), "nested more than 95 deep"},
		"braces":                 {twice("{a: ", "}", 10_000), "line 1: nested more than 95 deep"},
		"both":                   {twice("[{a: ", "}]", 8_000), "line 1: nested more than 95 deep"},
		"closed in a comment":    {"# " + strings.Repeat("]", 20_000) + "\nx: " + strings.Repeat("[", 20_000), "line 2: nested more than 95 deep"},
		"many brackets":          {"x: " + twice("[", "]", 500_000), "line 1: more than"},
		"dashes":                 {strings.Repeat("- ", 200_000) + "a", "line 1: nested too deep"},
		"question marks":         {strings.Repeat("? ", 20_000) + "a", "line 1: nested too deep"},
		"colons":                 {"x" + strings.Repeat(": a", 20_000), "line 1: more than 100 colons"},
		"colons in brackets":     {"[x" + strings.Repeat("\n: a", 5_000) + "]", "more than 100 colons"},
		"anchors":                {"x: " + strings.Repeat("&a ", 20_000) + "a", "line 1: more than 2000 anchors"},
		"tags":                   {"x: " + strings.Repeat("!!str\n ", 3_000) + "a", "more than 2000 anchors"},
	} {
		allocated := allocatedBy(func() {
			_, err := yamlToJSON([]byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, not %q", about, err, c.says)
			}
		})
		if allocated > 64<<20 {
			t.Errorf("%s: %d MiB", about, allocated>>20)
		}
	}
}

// Brackets and other marks in texts and comments nest nothing.
func TestMarksInTexts(t *testing.T) {
	marks := strings.Repeat("[{", 5000)
	for about, text := range map[string]string{
		"double quotes": `x: "` + marks + `"`, "single quotes": `x: '` + marks + `'`, "a literal": "x: |\n  " + marks + "\n", "a folded text": "x: >-\n  " + marks + "\n",
		"a comment": "x: 1 # " + marks + "\n# " + marks, "a plain text": "x: a" + marks, "in brackets": `x: ["` + marks + `", 1]`, "exclamations": "x: a" + strings.Repeat("! ", 5000) + "!",
		"95 levels": strings.Repeat("[", 96) + strings.Repeat("]", 96), "brackets side by side": "x: [" + strings.Repeat("[],", 5000) + "]",
	} {
		if _, err := yamlToJSON([]byte(text)); err != nil {
			t.Errorf("%s: %.200s", about, err)
		}
	}
}

func allocatedBy(work func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
