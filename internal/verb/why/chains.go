package why

import (
	"context"
	"slices"

	"git-checkpoint/internal/git"
)

// chains tells which checkpoints were made on top of which, and what changed a file on the way. A session that comes back to
// its worktree sees at once all that other sessions made there meanwhile, so those of a worktree are taken together.
type chains struct {
	x        *index
	files    *files
	added    *additions
	commits  *commits
	journals *journals

	down  memo[int32, []int32]
	walks memo[saved, *walk]
}

// file returns a file of a checkpoint; the zero Entry if nothing is there.
func (ch *chains) file(ctx context.Context, at saved) git.Entry {
	return ch.files.at(ctx, ch.x.Checkpoints[at.point].Tree, at.path)
}

// base returns the checkpoint that another one was made on top of, or -1.
func (ch *chains) base(ctx context.Context, point int32) int32 {
	if other, is := ch.journals.turns(ctx).before[point]; is && ch.x.Checkpoints[point].Via < 0 {
		return other
	}
	return ch.x.base(point)
}

// from returns a checkpoint and those that it was made on top of, newest first.
func (ch *chains) from(ctx context.Context, point int32) []int32 {
	return ch.down.of(point, func() (out []int32) {
		for at := point; at >= 0 && len(out) <= len(ch.x.Checkpoints); at = ch.base(ctx, at) {
			out = append(out, at)
		}
		return out
	})
}

// tips returns the newest state of the worktree in which a session was last, and the session's own.
func (ch *chains) tips(ctx context.Context, of *session) []int32 {
	all := ch.journals.course(ctx, of).moments
	if len(all) == 0 || all[len(all)-1].point < 0 {
		return nil
	}
	own := all[len(all)-1].point
	both := []int32{ch.journals.turns(ctx).latest[ch.x.Checkpoints[own].Worktree], own}
	return slices.DeleteFunc(slices.Compact(both), func(point int32) bool { return point < 0 })
}

// holding returns the file as it is now in the newest checkpoint that leads to a tip and has it.
func (ch *chains) holding(ctx context.Context, tip int32, now spot) saved {
	for _, path := range now.names {
		at := saved{tip, path}
		if ch.files.equal(ctx, ch.file(ctx, at), now.file) {
			return at
		}
		w := ch.walk(ctx, at)
		for n := range w.compared() {
			if v := w.version(ctx, n); v.now.OID == now.file.OID {
				return v.saved
			}
		}
	}
	return nowhere
}

// newest returns a file of one of these names at a tip.
func (ch *chains) newest(ctx context.Context, tip int32, names []string) saved {
	for _, path := range names {
		if at := (saved{tip, path}); isFile(ch.file(ctx, at)) {
			return at
		}
	}
	return nowhere
}

// versions returns the checkpoints on the chain of one that changed a path, newest first. It follows
// renames. The entries are read when they are needed.
func (ch *chains) versions(ctx context.Context, of saved) (out []version) {
	number := ch.x.path(of.path)
	if number < 0 {
		return nil
	}
	chain := ch.from(ctx, of.point)
	first, last := slices.Min(chain), slices.Max(chain)
	places := make([]int, last-first+1) // of the checkpoints on it, from 1
	for i, p := range chain {
		places[p-first] = i + 1
	}
	place := func(c int32) int { return places[ch.x.Changes[c].Point-first] - 1 }
	least := 0 // nothing newer than this counts
	for number >= 0 {
		renamed := int32(-1)
		var on []int32
		all := ch.x.changesOf(number)
		from, _ := slices.BinarySearchFunc(all, first, func(c, p int32) int { return int(ch.x.Changes[c].Point - p) })
		for _, c := range all[from:] {
			if ch.x.Changes[c].Point > last {
				break
			}
			if at := place(c); at >= least {
				on = append(on, c)
			}
		}
		slices.SortFunc(on, func(c, d int32) int { return place(c) - place(d) })
		for _, c := range on {
			change := ch.x.Changes[c]
			out = append(out, version{change: c, saved: saved{change.Point, ch.x.pathOf(change.Path)}})
			if change.From >= 0 {
				renamed, least = change.From, place(c)+1
				break
			}
		}
		number = renamed
	}
	return out
}
