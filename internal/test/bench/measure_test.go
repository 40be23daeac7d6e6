package bench

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Both sides run equally often and alternate in being first, and the warming rounds are not
// counted.
func TestCompare(t *testing.T) {
	var ran string
	side := func(name string) step {
		note := func(what string) func(context.Context) error {
			return func(context.Context) error { ran += what; return nil }
		}
		return step{note("-"), note(name)}
	}
	found, err := compare(t.Context(), 2, side("o"), side("t"))
	if err != nil {
		t.Fatal(err)
	}
	if ran != "-o-t-t-o-o-t" {
		t.Errorf("%s", ran)
	}
	if len(found.ours) != 2 || len(found.theirs) != 2 {
		t.Errorf("%d and %d samples", len(found.ours), len(found.theirs))
	}
}

// A side that fails ends the comparison.
func TestCompareFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := compare(t.Context(), 1, step{run: func(context.Context) error { return nil }}, step{run: func(context.Context) error { return broken }})
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// Ratios are computed round by round, so a machine that becomes slower half-way gives the
// same ratio.
func TestRatios(t *testing.T) {
	s := samples{ours: []float64{1, 2, 30, 40}, theirs: []float64{2, 4, 60, 80}}
	if diff := cmp.Diff(Spread{0.5, 0.5, 0.5}, spreadOf(s.ratios())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Spread{2, 3, 4}, spreadOf([]float64{5, 3, 1, 4, 2})); diff != "" {
		t.Error(diff)
	}
	if got := spreadOf([]float64{1, 2}).in(2); got != "1.50 (1.25–1.75)" {
		t.Error(got)
	}
}
