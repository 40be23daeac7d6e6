package clearance

import (
	"slices"
	"testing"
)

// Line ends and $Id$ withhold nothing; everything else that a filter changes does.
func TestAsCommitted(t *testing.T) {
	for _, c := range []struct {
		exact, kept string
		same        bool
	}{
		{"a\r\nb\r\n", "a\nb\n", true},
		{"a\r\nb\n", "a\nb\n", true},
		{"a\rb", "a\nb", false},
		{"$Id: 1234 $ x", "$Id$ x", true},
		{"$Id: 1234 secret", "$Id$", false},
		{"code OUTPUT 42\n", "code OUTPUT\n", false},
		{"", "x", false},
	} {
		if same := slices.Equal(asCommitted([]byte(c.exact)), asCommitted([]byte(c.kept))); same != c.same {
			t.Errorf("%q and %q: %t", c.exact, c.kept, same)
		}
	}
}

// A sparse checkout in force leaves the bit only on what is absent, so only a file that is present and has
// the bit is hidden.
func TestHiddenPaths(t *testing.T) {
	got := HiddenPaths([]string{"assumed"}, []string{"absent", "kept"}, []string{"kept", "outside the cone"})
	if len(got) != 2 || !got["assumed"] || !got["kept"] {
		t.Errorf("%v", got)
	}
}
