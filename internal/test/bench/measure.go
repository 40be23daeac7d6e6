package bench

// Comparisons run both sides in turn, round by round, and take the ratio of each round. A
// change in the speed of the machine then affects both sides alike.

import (
	"context"
	"slices"
	"time"
)

// step is work to measure (run), with a preparation that is not measured (ready, may be
// nil).
type step struct {
	ready, run func(context.Context) error
}

// took prepares and runs the step and returns the time of the run.
func (s step) took(ctx context.Context) (time.Duration, error) {
	if s.ready != nil {
		if err := s.ready(ctx); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	err := s.run(ctx)
	return time.Since(began), err
}

// samples are the times of both sides in milliseconds, by round. Rows without a comparison
// have only ours.
type samples struct{ ours, theirs []float64 }

// warming returns the number of rounds at the start that are not counted. Where rounds are few, they take
// so long that one is enough.
func warming(rounds int) int {
	if rounds <= 5 {
		return 1
	}
	return 2
}

// compare runs both steps in turn. Which one is first alternates from round to round.
func compare(ctx context.Context, rounds int, ours, theirs step) (samples, error) {
	var found samples
	for round := range warming(rounds) + rounds {
		steps, took := []step{ours, theirs}, [2]float64{}
		for i := range steps {
			side := (i + round) % 2
			d, err := steps[side].took(ctx)
			if err != nil {
				return found, err
			}
			took[side] = float64(d.Microseconds()) / 1000
		}
		if round >= warming(rounds) {
			found.ours, found.theirs = append(found.ours, took[0]), append(found.theirs, took[1])
		}
	}
	return found, nil
}

// alone measures a single step.
func alone(ctx context.Context, rounds int, s step) (samples, error) {
	var found samples
	for round := range warming(rounds) + rounds {
		took, err := s.took(ctx)
		if err != nil {
			return found, err
		}
		if round >= warming(rounds) {
			found.ours = append(found.ours, float64(took.Microseconds())/1000)
		}
	}
	return found, nil
}

// ratios returns the ratio of each round.
func (s samples) ratios() []float64 {
	found := make([]float64, len(s.ours))
	for i := range found {
		found[i] = s.ours[i] / s.theirs[i]
	}
	return found
}

// Spread is the median of values, with the lower and upper quartile.
type Spread struct {
	Low    float64 `json:"low"`
	Median float64 `json:"median"`
	High   float64 `json:"high"`
}

// spreadOf computes the quartiles.
func spreadOf(values []float64) Spread {
	return Spread{quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)}
}

// quantile returns the value below which a part (0 to 1) of the values lies, interpolated.
func quantile(values []float64, part float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	place := part * float64(len(sorted)-1)
	i := int(place)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (place-float64(i))*(sorted[i+1]-sorted[i])
}
