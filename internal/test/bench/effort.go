package bench

import (
	"cmp"
	"slices"
)

// Effort says how much to measure.
type Effort struct {
	Name string
	// Numbers of files of the repositories, ascending.
	Sizes  []int
	Rounds int // rounds of each comparison
	Many   int // files of a large worktree in rows about something else; 0: 20,000
	// Rounds of the comparison of program starts.
	Starts int
	// Numbers of checkpoints of the sessions, ascending.
	Lengths []int
	// Checkpoints of the session that is imported; 0: leave it out.
	Long int
	// Objects of the large repository; 0: leave it out.
	Packed int
	// Files of the huge worktree; 0: leave it out.
	Huge int
	Day  int // checkpoints of an agent's day
	// Checkpoints of the sessions whose lines why and blame are asked about.
	Origins int
	// Checkpoints over which bytes are counted.
	Counted int
}

// Full is the effort behind docs/performance.md.
func Full() Effort {
	return Effort{
		Name: "full", Sizes: []int{1000, 20000, 100000}, Rounds: 25, Starts: 60,
		Lengths: []int{10, 1000, 10000}, Long: 100_000, Packed: 2_000_000, Huge: 1_000_000, Day: 2000, Origins: 10_000, Counted: 100,
	}
}

// Quick takes less than two minutes on an idle machine, the building included. Making repositories takes most of
// that, so there is one of 20,000 files.
func Quick() Effort {
	return Effort{
		Name: "quick", Sizes: []int{1000, 20000}, Rounds: 5, Many: 2000, Starts: 12,
		Lengths: []int{10, 100}, Day: 50, Origins: 200, Counted: 10,
	}
}

// changed is the number of changed files in every comparison.
const changed = 10

// small is the number of files in rows where something else grows.
func (e Effort) small() int { return min(e.Sizes[0], 1000) }

// beside returns the numbers of files in rows beside other programs, which take long with many.
func (e Effort) beside() []int {
	return slices.Compact([]int{e.small(), e.many()})
}

// many is the number of files of a large worktree in rows about something else.
func (e Effort) many() int { return min(e.biggest(), cmp.Or(e.Many, 20_000)) }

// biggest is the number of files of the largest worktree.
func (e Effort) biggest() int { return e.Sizes[len(e.Sizes)-1] }

// longest is the number of checkpoints of the longest session.
func (e Effort) longest() int { return e.Lengths[len(e.Lengths)-1] }
