package why

import (
	"context"
	"slices"

	"git-checkpoint/internal/format/journal"
)

// chained is which checkpoints were made on top of which, and what follows from that.
type chained struct {
	wide     bool // the sessions of a worktree are taken together
	chains   map[int32][]int32
	walks    map[origin]*walk
	sessions map[entry][]bool
	feeds    [][]int // by session: those that checkpoints of it have their files from
}

func newChained() *chained {
	return &chained{chains: map[int32][]int32{}, walks: map[origin]*walk{}, sessions: map[entry][]bool{}}
}

// turns is how sessions took turns in worktrees.
type turns struct {
	latest map[string]int32 // by worktree: what was current there last, of any session
	before map[int32]int32  // by checkpoint that was made there: what was current before, of any session; -1: not known
}

// base returns the checkpoint that another one was made on top of, or -1. A session that comes back to its worktree
// sees at once all that other sessions made there meanwhile. If they are taken together, its checkpoint was made on top
// of the last one of theirs.
func (a *asker) base(ctx context.Context, point int32) int32 {
	if a.wide && a.x.Checkpoints[point].Via < 0 {
		if other, is := a.theTurns(ctx).before[point]; is {
			return other
		}
	}
	return a.x.base(point)
}

// theTurns reads from the journals how sessions took turns.
func (a *asker) theTurns(ctx context.Context) *turns {
	if a.turns != nil {
		return a.turns
	}
	type passage struct {
		moment
		session int
	}
	all := map[string][]passage{}
	for n := range a.x.Sessions {
		worktree := ""
		for _, m := range a.momentsOf(ctx, &a.x.Sessions[n]) {
			if m.point >= 0 {
				worktree = a.x.Checkpoints[m.point].Worktree
			}
			all[worktree] = append(all[worktree], passage{m, n})
		}
	}
	a.turns = &turns{map[string]int32{}, map[int32]int32{}}
	for worktree, in := range all {
		slices.SortStableFunc(in, func(p, q passage) int { return p.event.Time.Compare(q.event.Time) })
		a.turns.latest[worktree] = in[len(in)-1].point
		for i := 1; i < len(in); i++ {
			switch p, last := in[i], in[i-1]; {
			case p.event.Kind != journal.KindCreate || p.point < 0:
			case p.session == last.session:
				a.turns.before[p.point] = a.x.base(p.point)
			case p.event.Time.Equal(last.event.Time):
				a.turns.before[p.point] = -1
			default:
				a.turns.before[p.point] = last.point
			}
		}
	}
	return a.turns
}

// neighbours returns the other sessions that have checkpoints of the same worktree as one.
func (a *asker) neighbours(n int) (out []int) {
	in := map[string]bool{}
	of := a.x.Sessions[n]
	for _, p := range a.x.Checkpoints[of.From:of.To] {
		in[p.Worktree] = true
	}
	for m, other := range a.x.Sessions {
		if m != n && slices.ContainsFunc(a.x.Checkpoints[other.From:other.To], func(p point) bool { return in[p.Worktree] }) {
			out = append(out, m)
		}
	}
	return out
}
