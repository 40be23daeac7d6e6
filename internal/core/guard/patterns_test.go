package guard

import "testing"

// Every pattern compiles; they are compiled only when they are needed.
func TestPatterns(*testing.T) {
	for _, r := range rules().rules {
		r.pattern()
	}
}
