package gather_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/sys/gather"
)

func TestGather(t *testing.T) {
	words := []string{"b", "a", "B"}
	isLower := func(word string) bool { return strings.ToLower(word) == word }
	if got := gather.List(words, strings.ToUpper); !slices.Equal(got, []string{"B", "A", "B"}) {
		t.Errorf("List: %q", got)
	}
	if got := gather.Those(words, isLower); !slices.Equal(got, []string{"b", "a"}) || gather.Count(words, isLower) != 2 {
		t.Errorf("Those: %q", got)
	}
	if got := gather.Set(words, strings.ToUpper); !maps.Equal(got, map[string]bool{"A": true, "B": true}) {
		t.Errorf("Set: %v", got)
	}
	if got := gather.SetOf(words); !maps.Equal(got, map[string]bool{"a": true, "b": true, "B": true}) {
		t.Errorf("SetOf: %v", got)
	}
	if got := gather.Map(words, func(word string) (string, string) { return strings.ToUpper(word), word }); !maps.Equal(got, map[string]string{"A": "a", "B": "B"}) {
		t.Errorf("Map: %v", got)
	}
	// JSON has [] for an empty list, and null for one that is nil.
	if gather.List([]string(nil), strings.ToUpper) == nil || gather.Those([]string{"A"}, isLower) != nil || gather.SetOf([]string(nil)) == nil {
		t.Error("List and SetOf must not give nil, and Those must")
	}
}
