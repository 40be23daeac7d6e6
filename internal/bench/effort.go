package bench

// Effort is how long to look.
type Effort struct {
	Name    string
	Sizes   []int // files of the repositories, the smallest first
	Rounds  int   // of each comparison
	Starts  int   // rounds of the comparison of two programs that start and end
	Lengths []int // checkpoints of the sessions, the shortest first
	Packed  int   // objects of the large repository; 0: it is left out
	Day     int   // checkpoints of the day of an agent
	Counted int   // checkpoints over which bytes are counted
}

// Full is what docs/performance.md shows.
func Full() Effort {
	return Effort{
		Name: "full", Sizes: []int{1000, 20000, 100000}, Rounds: 25, Starts: 60,
		Lengths: []int{10, 1000, 10000}, Packed: 2_000_000, Day: 2000, Counted: 100,
	}
}

// Quick ends in under two minutes.
func Quick() Effort {
	return Effort{
		Name: "quick", Sizes: []int{1000, 20000}, Rounds: 7, Starts: 20,
		Lengths: []int{10, 200}, Day: 100, Counted: 20,
	}
}

// changed is in how many files the worktree differs in every comparison.
const changed = 10

// small is the number of files where another size is what grows.
func (e Effort) small() int { return min(e.Sizes[0], 1000) }

// biggest is the number of files of the largest worktree.
func (e Effort) biggest() int { return e.Sizes[len(e.Sizes)-1] }

// longest is the number of checkpoints of the longest session.
func (e Effort) longest() int { return e.Lengths[len(e.Lengths)-1] }
