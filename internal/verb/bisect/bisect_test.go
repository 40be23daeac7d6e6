package bisect

import (
	"context"
	"math/bits"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
)

// The first bad one of n checkpoints is found with at most ceil(log2 n) + 1 runs, wherever
// it is: 8 of 100.
func TestRuns(t *testing.T) {
	for n := 2; n <= 130; n++ {
		most := bits.Len(uint(n-1)) + 1
		for bad := range n {
			b := &search{known: map[int]Verdict{}, answer: &Answer{}, found: &checkpoint.Found{}}
			at := map[*journal.Entry]int{}
			for i := range n {
				e := &journal.Entry{Checkpoint: name.ID(rune('a' + i))}
				b.steps = append(b.steps, e)
				at[e] = i
			}
			b.try = func(_ context.Context, e *journal.Entry) (Verdict, int, error) {
				if at[e] >= bad {
					return Bad, 1, nil
				}
				return Good, 0, nil
			}
			low, high, err := b.narrow(t.Context())
			if err != nil || high != bad || low != bad-1 {
				t.Fatalf("of %d, %d: between %d and %d, %v", n, bad, low, high, err)
			}
			if len(b.answer.Runs) > most {
				t.Fatalf("of %d, %d: %d runs, not %d", n, bad, len(b.answer.Runs), most)
			}
		}
	}
}
