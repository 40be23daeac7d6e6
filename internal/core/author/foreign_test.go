package author

import "testing"

// Work is gone only if none of its lines is left, however they are indented now; of what is no text it is
// known only if the file is gone, or as it was before.
func TestGone(t *testing.T) {
	text := func(s string) []byte {
		if s == "-" {
			return nil
		}
		return []byte(s)
	}
	for _, c := range []struct {
		from, to, now string
		gone          bool
	}{
		{"a\n", "a\nmine\n", "a\n", true}, {"-", "mine\n", "-", true}, {"-", "mine\n", "other\n", true}, {"a\n", "a\nmine\n", "b\n", true},
		{"a\n", "a\nmine\n", "  mine \nb\n", false}, {"a\n", "a\nmy line\nmine\n", "mine\n", false}, {"a\nb\n", "a\n", "c\n", false},
		{"a\n", "a\n\n", "c\n", false}, {"-", "x\x00y", "z\x00", false}, {"z\x00", "x\x00y", "z\x00", true}, {"a\n", "", "b\n", false},
	} {
		if got := (Foreign{}).Gone(text(c.from), text(c.to), text(c.now)); got != c.gone {
			t.Errorf("%q, %q, %q: %v", c.from, c.to, c.now, got)
		}
	}
}
