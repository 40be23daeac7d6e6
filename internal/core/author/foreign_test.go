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
		if some, all := left(text(c.from), text(c.to), text(c.now)); some == c.gone || all && c.gone {
			t.Errorf("%q, %q, %q: %v, %v", c.from, c.to, c.now, some, all)
		}
	}
	for now, want := range map[string]bool{"other\nmine\nmine too\n": true, "mine\n": false, "mine too\n": false, "a\n": false} {
		if _, all := left(text("a\n"), text("mine\nmine too\n"), text(now)); all != want {
			t.Errorf("%q has all: %v", now, all)
		}
	}
}
