package why

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A file has the same lines and numbers, whatever was read before it.
func TestReadNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`(a|b|aa| |\n|`+string(slices.Repeat([]byte("long line of a file "), 20))+`\n){0,12}`), 1, 6).Draw(t, "files")
		f := &files{loose: rapid.Bool().Draw(t, "loose")}
		for _, file := range texts {
			got, want := f.readNext([]byte(file)), f.numbered(split(file))
			if !slices.Equal(got.text, want.text) || !slices.Equal(got.numbers, want.numbers) {
				t.Fatalf("%q of %q is read as %q %v, not %q %v", file, texts, got.text, got.numbers, want.text, want.numbers)
			}
		}
	})
}
