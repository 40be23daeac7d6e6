package rollback

// This file handles an undo or redo of several levels at once. Every rollback made a safety
// checkpoint before it, so undoing N levels means restoring the safety checkpoint of the oldest
// one. It is not that easy when some of these rollbacks moved only a part, for example only the
// current checkpoint: then files, index and HEAD are found in different safety checkpoints.

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/snapshot"
)

// parts says, for a point on the way through the levels, which safety checkpoint holds the files,
// the index and HEAD as they are at that point. Each value is the number of the level whose safety
// checkpoint it is, or here.
type parts struct{ files, index, head int }

// here stands for the safety checkpoint that this undo makes itself.
const here = -1

// filesOnly reports whether index and HEAD stay, because an operation of git is in progress.
func filesOnly(r *Plan) bool { return r.req.Force && r.s.Repo.Operation() != "" }

// partsBefore returns the parts before each level is undone, and at the end, for a transaction that
// begins with the level first. The result has len(levels)+1 elements; those before first are zero.
func partsBefore(r *Plan, first int) []parts {
	at := parts{here, here, here}
	all := make([]parts, first, len(r.levels)+1)
	stay := filesOnly(r)
	all = append(all, at)
	for i, l := range r.levels {
		if i < first {
			continue
		}
		mode := modeOf(l.Head)
		if mode != ModeState && mode != ModeLand { // these two wrote no file
			at.files = i
		}
		if movesIndex(l.Head) && !stay {
			at.index = i
		}
		if l.Head.Branch != "" && !stay {
			at.head = i
		}
		all = append(all, at)
	}
	return all
}

// chooseParts selects the checkpoints whose files, index and HEAD are restored in the end, and the
// mode that follows from that.
func (r *Plan) chooseParts(ctx context.Context) error {
	r.req = Request{Mode: ModeState, Branch: BranchKeep, Force: r.sameOperation(ctx)}
	last := len(r.levels) - 1
	end := partsBefore(r, 0)[last+1]
	safety := func(at int) (*journal.Entry, error) {
		e := r.walk.entry(r.levels[at].Head.Safety)
		if isGone(e) {
			return nil, r.walk.withoutSafety(r.direction, at+1)
		}
		return e, nil
	}
	var err error
	if r.files, err = safety(last); err != nil || end == (parts{here, here, here}) {
		return err
	}
	// From here on something moves in the worktree, but each part only if some level moved it.
	r.req.Mode = ModeWorktree
	from := last
	if r.filesStay = end.files == here; !r.filesStay {
		from = end.files
	}
	if r.files, err = safety(from); err != nil {
		return err
	}
	if end.index != here || r.req.Force { // with Force the index stays anyway
		r.req.Mode = ModeAll
	}
	if end.index != here && end.index != from {
		if r.indexFrom, err = safety(end.index); err != nil {
			return err
		}
	}
	if end.head != here {
		r.req.Branch = BranchMove
		if r.headFrom, err = safety(end.head); err != nil {
			return err
		}
	}
	return nil
}

// divide splits the levels into legs. Each leg is one transaction: levels of one session, as long
// as some checkpoint holds everything that is there between two levels, because a redo of the later
// one has to return to that. Otherwise a new leg begins, and it makes a safety checkpoint of its
// own.
func divide(ctx context.Context, r *Plan) (legs []int, err error) {
	first := 0
	for i := 1; i <= len(r.levels); i++ {
		if i < len(r.levels) {
			together, err := goTogether(ctx, r, first, i)
			if err != nil {
				return nil, err
			}
			if together {
				continue
			}
		}
		if isGone(r.walk.entry(r.levels[i-1].Head.Safety)) {
			return nil, r.walk.withoutSafety(r.direction, i)
		}
		legs = append(legs, i-first)
		first = i
	}
	return legs, nil
}

// goTogether reports whether a level can be in the same leg as the level first.
func goTogether(ctx context.Context, r *Plan, first, level int) (bool, error) {
	l, at := r.levels[level], partsBefore(r, first)[level]
	if l.State != r.levels[first].State || movesAside(ctx, r, l) || movesAside(ctx, r, r.levels[level-1]) {
		return false, nil
	}
	needsIndex := movesIndex(l.Head) && at.index != at.files
	needsHead := l.Head.Branch != "" && at.head != at.files
	if !needsIndex && !needsHead {
		return true, nil
	}
	var of [3]held
	for i, part := range []int{at.files, at.index, at.head} {
		if part == here && (first > 0 || r.cur == nil) || part != here && isGone(r.walk.entry(r.levels[part].Head.Safety)) {
			return false, nil // it is not known yet, or pruned
		}
		var err error
		if of[i], err = heldBy(ctx, r, part); err != nil {
			return false, err
		}
	}
	files, index, head := of[0], of[1], of[2]
	return (!needsIndex || sameIndex(index.index, files.index) && sameTree(ctx, r, index.commit, files.commit)) && (!needsHead || head.isAt(files)), nil
}

// applyLegs applies an undo of more than one leg. Each leg is planned when the one before it is
// done. If it stops early, the worktree is between two legs, as if the user had undone only the
// first ones.
func applyLegs(ctx context.Context, r *Plan) error {
	done := 0
	for _, count := range r.legs {
		leg, err := PrepareUndo(ctx, r.s, UndoRequest{Redo: r.direction == forward, Levels: count, Force: r.takeCommits})
		var answer *Answer
		if err == nil {
			answer, err = leg.Apply(ctx)
		}
		if err != nil && done > 0 {
			rest := fmt.Sprintf("the first %d of %d are done; `git checkpoint %s %d` does the rest", done, len(r.levels), r.direction, len(r.levels)-done)
			err = checkpoint.WithHints(err, func(hints []string) []string { return append(hints, rest) })
		}
		if err != nil {
			return err
		}
		if done == 0 {
			r.answer.Safety = answer.Safety
		}
		r.s.Repo.Refresh(ctx) // the leg may have moved HEAD
		done += count
	}
	r.answer.DryRun = false
	return nil
}

// isGone reports whether a checkpoint is unknown or pruned.
func isGone(e *journal.Entry) bool { return e == nil || e.Dead }

// held is the index and HEAD at one point in time.
type held struct {
	index  snapshot.IndexState
	branch name.Ref
	commit name.OID
}

// isAt reports whether HEAD is at the same branch and commit in both.
func (h held) isAt(other held) bool { return h.branch == other.branch && h.commit == other.commit }

// heldBy returns what the safety checkpoint of a level holds, or for here what the worktree holds
// now.
func heldBy(ctx context.Context, r *Plan, level int) (held, error) {
	if level == here {
		return held{r.cur.Index, r.s.Repo.Head.Branch, r.s.Repo.Head.OID}, nil
	}
	e := r.walk.entry(r.levels[level].Head.Safety)
	if isGone(e) {
		return held{}, r.walk.withoutSafety(r.direction, level+1)
	}
	rec, got, err := readTarget(ctx, r.s, e)
	if err != nil {
		return held{}, checkpoint.DamagedError(e, err)
	}
	h := held{branch: name.Ref(rec.Git.Branch), commit: rec.Git.Head}
	if got.index != nil {
		h.index = *got.index
	}
	return h, nil
}

// sameTree reports whether two commits have the same files. Only under such HEADs are two indexes the
// same: what is staged is their difference from HEAD.
func sameTree(ctx context.Context, r *Plan, a, b name.OID) bool {
	if a == b || a == "" || b == "" {
		return a == b
	}
	x, err := r.s.Repo.ReadCommit(ctx, string(a))
	y, failed := r.s.Repo.ReadCommit(ctx, string(b))
	return err == nil && failed == nil && x.Tree == y.Tree
}

// sameIndex compares two states of the index under one HEAD, flags included.
func sameIndex(a, b snapshot.IndexState) bool {
	return a.Tree == b.Tree && slices.Equal(a.Unmerged, b.Unmerged) && slices.Equal(a.IntentToAdd, b.IntentToAdd) &&
		slices.Equal(a.AssumeUnchanged, b.AssumeUnchanged) && slices.Equal(a.SkipWorktree, b.SkipWorktree)
}

// undone returns for each level what its event names. It is called when the id of the safety
// checkpoint that this undo makes, own, is known.
func undone(ctx context.Context, r *Plan, own name.ID, branch string) ([]checkpoint.UndoneLevel, error) {
	before := partsBefore(r, 0)
	all := make([]checkpoint.UndoneLevel, len(r.levels))
	for i, l := range r.levels {
		u := checkpoint.UndoneLevel{Undoes: l.Head.OID, Safety: own, Mode: string(modeOf(l.Head))}
		if at := before[i].files; at != here {
			u.Safety = r.levels[at].Head.Safety
		}
		switch {
		case len(r.levels) == 1:
			u.Branch = branch
		case before[i+1].head == i:
			moved, err := headAfter(ctx, r, before[i].head, i)
			if err != nil {
				return nil, err
			}
			u.Branch = moved
		}
		all[i] = u
	}
	return all, nil
}

// headAfter returns the branch that undoing a level puts HEAD on, or "HEAD" for a detached one. It
// returns "" if HEAD is there already.
func headAfter(ctx context.Context, r *Plan, before, level int) (string, error) {
	if isGone(r.walk.entry(r.levels[level].Head.Safety)) {
		return r.levels[level].Head.Branch, nil
	}
	after, err := heldBy(ctx, r, level)
	if err != nil {
		return "", err
	}
	if before == here || !isGone(r.walk.entry(r.levels[before].Head.Safety)) {
		was, err := heldBy(ctx, r, before)
		if err != nil || was.isAt(after) {
			return "", err
		}
	}
	if after.branch == "" {
		return "HEAD", nil
	}
	return string(after.branch), nil
}

// headRecord returns the record of the checkpoint whose HEAD is restored.
func headRecord(ctx context.Context, r *Plan) (*record.Record, error) {
	if r.headFrom == nil || r.headFrom == r.files {
		return r.record, nil
	}
	rec, err := r.s.ReadRecord(ctx, r.headFrom)
	if err != nil {
		return nil, checkpoint.DamagedError(r.headFrom, err)
	}
	return rec, nil
}
