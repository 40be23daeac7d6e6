package name

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Distance is a metric: 0 to itself, symmetric, and at most the length of the longer word.
func TestDistance(t *testing.T) {
	word := rapid.StringMatching(`[a-c]{1,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if (Distance(a, b) == 0) != (a == b) || len(a) <= 3*len(b) && len(b) <= 3*len(a) && Distance(a, b) != Distance(b, a) || Distance(a, b) > max(len(a), len(b)) {
			t.Fatalf("%q %q: %d and %d", a, b, Distance(a, b), Distance(b, a))
		}
	})
	if Distance("lsit", "list") != 1 || Distance("rollbak", "rollback") != 1 || Distance(strings.Repeat("x", 1<<20), "list") != 1<<20 {
		t.Error("Distance counts differently")
	}
}
