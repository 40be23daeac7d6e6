package interop

import (
	"runtime"
	"strings"
	"testing"
)

// Documents with unbounded nesting are refused, and cost no more memory than others. The test measures the bytes allocated, because that does not depend on the machine.
func TestHostileYAML(t *testing.T) {
	twice := func(open, shut string, n int) string { return strings.Repeat(open, n) + strings.Repeat(shut, n) }
	for about, text := range map[string]string{
		"brackets": "x: " + twice("[", "]", 20_000), "brackets on many lines": "x:\n" + twice(" [\n", " ]\n", 5_000), "braces": twice("{a: ", "}", 10_000),
		"both": twice("[{a: ", "}]", 8_000), "closed in a comment": "# " + strings.Repeat("]", 20_000) + "\nx: " + strings.Repeat("[", 20_000),
		"96 levels": twice("[", "]", 97), "many brackets": "x: " + twice("[", "]", 500_000), "dashes": strings.Repeat("- ", 200_000) + "a",
		"question marks": strings.Repeat("? ", 20_000) + "a", "colons": "x" + strings.Repeat(": a", 20_000),
		"colons in brackets": "[x" + strings.Repeat("\n: a", 5_000) + "]", "anchors": "x: " + strings.Repeat("&a ", 20_000) + "a",
		"tags": "x: " + strings.Repeat("!!str\n ", 3_000) + "a", "members": "x:\n" + strings.Repeat(" a:\n", 50_000),
	} {
		allocated := allocatedBy(func() {
			_, err := yamlToJSON([]byte(text))
			if err == nil || strings.Contains(err.Error(), "panic") {
				t.Errorf("%s: %v", about, err)
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

// People read emoji, and a text about an escape stays what it is.
func TestEmojiInYAML(t *testing.T) {
	doc := `{"a":"🚀: \\U0001F680 \\\\U0001F680 \\"}`
	got := jsonToYAML([]byte(doc))
	if want := `a: "🚀: \\U0001F680 \\\\U0001F680 \\"` + "\n"; string(got) != want {
		t.Errorf("wrote %s, want %s", got, want)
	}
	if back, err := yamlToJSON(got); err != nil || string(back) != doc {
		t.Errorf("read back %s, %v", back, err)
	}
}
