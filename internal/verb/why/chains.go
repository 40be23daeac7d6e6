package why

import (
	"context"
	"slices"

	"git-checkpoint/internal/git"
)

// A session that comes back to its worktree sees at once all that other sessions made there meanwhile, so the checkpoints of a
// worktree are taken together.

// file returns a file of a checkpoint; the zero Entry if nothing is there.
func (j *journals) file(ctx context.Context, at saved) git.Entry {
	return j.files.entryAt(ctx, j.x.Checkpoints[at.point].Tree, at.path)
}

// base returns the checkpoint that another one was made on top of, or -1.
func (j *journals) base(ctx context.Context, point int32) int32 {
	if other, is := j.turns(ctx).before[point]; is && j.x.Checkpoints[point].Via < 0 {
		return other
	}
	return j.x.base(point)
}

// ancestors returns a checkpoint and those that it was made on top of, newest first.
func (j *journals) ancestors(ctx context.Context, point int32) []int32 {
	return j.down.get(point, func() (out []int32) {
		for at := point; at >= 0 && len(out) <= len(j.x.Checkpoints); at = j.base(ctx, at) {
			out = append(out, at)
		}
		return out
	})
}

// tips returns the newest state of the worktree in which a session was last, and the session's own.
func (j *journals) tips(ctx context.Context, of *session) []int32 {
	all := j.course(ctx, of).moments
	if len(all) == 0 || all[len(all)-1].point < 0 {
		return nil
	}
	own := all[len(all)-1].point
	both := []int32{j.turns(ctx).latest[j.x.Checkpoints[own].Worktree], own}
	return slices.DeleteFunc(slices.Compact(both), func(point int32) bool { return point < 0 })
}

// holding returns the file as it is now in the newest checkpoint that leads to a tip and has it.
func (j *journals) holding(ctx context.Context, tip int32, now lineAt) saved {
	for _, path := range now.names {
		at := saved{point: tip, path: path}
		if j.files.equal(ctx, j.file(ctx, at), now.file) {
			return at
		}
		w := j.walk(ctx, at)
		for n := range w.compared() {
			if v := w.version(ctx, n); v.now.OID == now.file.OID {
				return v.saved
			}
		}
	}
	return nowhere
}

// versions returns the checkpoints on the chain of one that changed a path, newest first. It follows
// renames. The entries are read when they are needed.
func (j *journals) versions(ctx context.Context, of saved) (out []version) {
	changed := j.x.changesOf(j.x.path(of.path))
	for _, point := range j.ancestors(ctx, of.point) {
		number, is := changed[point]
		if !is {
			continue
		}
		change := j.x.Changes[number]
		out = append(out, version{change: number, saved: saved{point: point, path: j.x.pathOf(change.Path)}})
		if change.From >= 0 {
			changed = j.x.changesOf(change.From)
		}
	}
	return out
}
