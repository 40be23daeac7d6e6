package worktree

import (
	"slices"
	"testing"
)

// The directories above a path end, whatever a hostile tree calls its files.
func TestAbove(t *testing.T) {
	for p, want := range map[string][]string{
		"a": nil, "a/b/c": {"a/b", "a"}, "a/b/": {"a/b", "a"}, "": nil, "/": nil, "/x": nil, "//x": {"/"}, "../x": {".."}, "./x": {"."}, ".": nil, "a//b": {"a/", "a"},
	} {
		if got := slices.Collect(ParentsOf(p)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", p, got, want)
		}
	}
}
