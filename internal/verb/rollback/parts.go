package rollback

// This file handles an undo or redo of several levels at once. Every rollback made a safety
// checkpoint before it, so undoing N levels means restoring the safety checkpoint of the oldest
// one. It is not that easy when some of these rollbacks moved only a part, for example only the
// current checkpoint: then files, index and HEAD are found in different safety checkpoints.

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
)

// parts says, for a point on the way through the levels, which safety checkpoint holds the files,
// the index and HEAD as they are at that point. Each value is the number of the level whose safety
// checkpoint it is, or thisUndo.
type parts struct{ files, index, head int }

// thisUndo stands for the safety checkpoint that this undo makes itself.
const thisUndo = -1

// filesOnly reports whether index and HEAD stay, because an operation of git is in progress.
func (r *target) filesOnly() bool { return r.req.Force && r.s.Repo.Checkout.Operation() != "" }

// partsBefore returns the parts before each level is undone, and at the end, for a transaction that
// begins with the level first. The result has len(levels)+1 elements; those before first are zero.
func (r *target) partsBefore(first int) []parts {
	at := parts{thisUndo, thisUndo, thisUndo}
	all := make([]parts, first, len(r.levels)+1)
	stay := r.filesOnly()
	all = append(all, at)
	for i, l := range r.levels {
		if i < first {
			continue
		}
		mode := modeOf(l.Head)
		if l.Head.Stays() { // it is undone by itself, see goTogether
			all = append(all, at)
			continue
		}
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

// targetOfUndo returns where an undo leads, with the checkpoints whose files, index and HEAD are
// restored in the end, and the mode that follows from that.
func targetOfUndo(ctx context.Context, s *checkpoint.Service, u undo, plans []journal.Plan) (target, error) {
	last := len(u.levels) - 1
	in := u.levels[last].State
	// The last plan says where the undo ends, all plans together what it discards and restores.
	t := target{
		s: s, undo: u, req: Request{Mode: ModeState, Branch: BranchKeep, Force: u.sameOperation(ctx, s.Store)},
		Move: Move{To: &checkpoint.Found{Session: in.Session, State: in, Entry: in.Entry(plans[last].Target)}, Exact: true},
	}
	for _, in := range bySession(u.levels) {
		discard, restore := netLists(u.levels[in[0]].State, gather.List(in, func(at int) journal.Plan { return plans[at] }))
		t.discard, t.restore = append(t.discard, discard...), append(t.restore, restore...)
	}
	end := t.partsBefore(0)[last+1]
	safety := func(at int) (*journal.Entry, error) {
		e := u.lists.entry(u.levels[at].Head.Safety)
		if isGone(e) {
			return nil, u.lists.withoutSafety(ctx, s.Store, u.direction, at+1)
		}
		return e, nil
	}
	var err error
	if t.Files, err = safety(last); err != nil {
		return t, err
	}
	if end == (parts{thisUndo, thisUndo, thisUndo}) {
		if slices.ContainsFunc(u.levels, func(l journal.Level) bool { return l.Head.Stays() }) {
			t.undoRestores(ctx)
		}
		return t, nil
	}
	// From here on something moves in the worktree, but each part only if some level moved it.
	t.req.Mode = ModeWorktree
	from := last
	if t.FilesStay = end.files == thisUndo; !t.FilesStay {
		from = end.files
	}
	if t.Files, err = safety(from); err != nil {
		return t, err
	}
	if end.index != thisUndo || t.req.Force { // with Force the index stays anyway
		t.req.Mode = ModeAll
	}
	if end.index != thisUndo && end.index != from {
		if t.Index, err = safety(end.index); err != nil {
			return t, err
		}
	}
	if end.head != thisUndo {
		t.req.Branch = BranchMove
		if t.Head, err = safety(end.head); err != nil {
			return t, err
		}
	}
	return t, nil
}

// divide splits the levels into transactions, and returns how many each undoes: levels of one session,
// as long as some checkpoint holds everything that is there between two levels, because a redo of the
// later one has to return to that. Otherwise a new transaction begins, and it makes a safety checkpoint
// of its own.
func (r *fileMoves) divide(ctx context.Context) (transactions []int, err error) {
	first := 0
	for i := 1; i <= len(r.levels); i++ {
		if i < len(r.levels) {
			together, err := r.goTogether(ctx, first, i)
			if err != nil {
				return nil, err
			}
			if together {
				continue
			}
		}
		if isGone(r.lists.entry(r.levels[i-1].Head.Safety)) {
			return nil, r.lists.withoutSafety(ctx, r.s.Store, r.direction, i)
		}
		transactions = append(transactions, i-first)
		first = i
	}
	return transactions, nil
}

// isAlone reports whether a level is undone by itself: a restore is, because only its own safety
// checkpoint has its paths as they were, and so is a level that moves a branch that HEAD is not on.
func (r *fileMoves) isAlone(ctx context.Context, l journal.Level) bool {
	e := r.lists.entry(l.Head.Safety)
	if l.Head.Stays() || l.Head.Branch == "" || isGone(e) {
		return l.Head.Stays() && !isGone(e)
	}
	var aside checkpoint.BranchBack
	if rec, err := checkpoint.ReadRecord(ctx, r.s.Store, e); err == nil {
		aside, _ = create.MemberAside.Of(rec.Git.Extra)
	}
	return aside.Name != ""
}

// goTogether reports whether a level can be in the same transaction as the level first.
func (r *fileMoves) goTogether(ctx context.Context, first, level int) (bool, error) {
	l, at := r.levels[level], r.partsBefore(first)[level]
	if r.isAlone(ctx, l) || r.isAlone(ctx, r.levels[level-1]) || l.State != r.levels[first].State {
		return false, nil
	}
	needsIndex := movesIndex(l.Head) && at.index != at.files
	needsHead := l.Head.Branch != "" && at.head != at.files
	if !needsIndex && !needsHead {
		return true, nil
	}
	var of [3]held
	for i, part := range []int{at.files, at.index, at.head} {
		if part == thisUndo && (first > 0 || r.cur == nil) || part != thisUndo && isGone(r.lists.entry(r.levels[part].Head.Safety)) {
			return false, nil // it is not known yet, or pruned
		}
		var err error
		if of[i], err = r.heldBy(ctx, part); err != nil {
			return false, err
		}
	}
	files, index, head := of[0], of[1], of[2]
	return (!needsIndex || sameIndex(index.index, files.index) && sameTree(ctx, r.s.Repo, index.commit, files.commit)) && (!needsHead || head.isAt(files)), nil
}

// applyEach applies an undo of more than one transaction. Each is planned when the one before it is
// done. If it stops early, the worktree is between two, as if the user had undone only the first ones.
// It completes the answer.
func (r *Plan) applyEach(ctx context.Context, whole *Answer) error {
	done := 0
	for _, count := range r.transactions {
		part, err := PrepareUndo(ctx, r.s, UndoRequest{Redo: r.direction == forward, Levels: count, Force: r.takeCommits})
		var answer *Answer
		if err == nil {
			answer, err = part.Apply(ctx)
		}
		if err != nil && done > 0 {
			rest := fmt.Sprintf("the first %d of %d are done; `git checkpoint %s %d` does the rest", done, len(r.levels), r.direction, len(r.levels)-done)
			err = checkpoint.WithHints(err, func(hints []string) []string { return append(hints, rest) })
		}
		if err != nil {
			return err
		}
		if done == 0 {
			whole.Safety = answer.Safety
		}
		r.s.Repo.Checkout.Refresh(ctx) // it may have moved HEAD
		done += count
	}
	whole.DryRun = false
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

// heldBy returns what the safety checkpoint of a level holds, or for thisUndo what the worktree holds
// now.
func (r *fileMoves) heldBy(ctx context.Context, level int) (held, error) {
	if level == thisUndo {
		return held{r.cur.Index, r.s.Repo.Head.Branch, r.s.Repo.Head.OID}, nil
	}
	e := r.lists.entry(r.levels[level].Head.Safety)
	if isGone(e) {
		return held{}, r.lists.withoutSafety(ctx, r.s.Store, r.direction, level+1)
	}
	rec, got, err := readTarget(ctx, r.s.Store, e)
	if err != nil {
		return held{}, checkpoint.DamagedError(e, err)
	}
	h := held{branch: name.Ref(rec.Git.Branch), commit: rec.Git.Head}
	if got.index != nil {
		h.index = *got.index
	}
	return h, nil
}

// sameTree reports whether two commits have the same files. Two indexes can be the same only if
// their HEADs have the same files, because what is staged is the difference from HEAD.
func sameTree(ctx context.Context, repo *git.Repo, a, b name.OID) bool {
	if a == b || a == "" || b == "" {
		return a == b
	}
	x, err := repo.Commits.Read(ctx, string(a))
	y, failed := repo.Commits.Read(ctx, string(b))
	return err == nil && failed == nil && x.Tree == y.Tree
}

// sameIndex compares two states of the index under one HEAD, flags included.
func sameIndex(a, b snapshot.IndexState) bool {
	return a.Tree == b.Tree && slices.Equal(a.Unmerged, b.Unmerged) && slices.Equal(a.IntentToAdd, b.IntentToAdd) &&
		slices.Equal(a.AssumeUnchanged, b.AssumeUnchanged) && slices.Equal(a.SkipWorktree, b.SkipWorktree)
}

// undone returns for each level what its event names. It is called when the id of the safety
// checkpoint that this undo makes, own, is known.
func (r *fileMoves) undone(ctx context.Context, own name.ID, branch string) ([]checkpoint.UndoneLevel, error) {
	before := r.partsBefore(0)
	all := make([]checkpoint.UndoneLevel, len(r.levels))
	for i, l := range r.levels {
		u := checkpoint.UndoneLevel{Undoes: l.Head.OID, Safety: own, Mode: string(modeOf(l.Head))}
		if at := before[i].files; at != thisUndo {
			u.Safety = r.levels[at].Head.Safety
		}
		switch {
		case len(r.levels) == 1:
			u.Branch = branch
		case before[i+1].head == i:
			moved, err := r.headAfter(ctx, before[i].head, i)
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
func (r *fileMoves) headAfter(ctx context.Context, before, level int) (string, error) {
	if isGone(r.lists.entry(r.levels[level].Head.Safety)) {
		return r.levels[level].Head.Branch, nil
	}
	after, err := r.heldBy(ctx, level)
	if err != nil {
		return "", err
	}
	if before == thisUndo || !isGone(r.lists.entry(r.levels[before].Head.Safety)) {
		was, err := r.heldBy(ctx, before)
		if err != nil || was.isAt(after) {
			return "", err
		}
	}
	return cmp.Or(string(after.branch), "HEAD"), nil
}

// headRecord returns the record of the checkpoint whose HEAD is restored.
func (r *target) headRecord(ctx context.Context) (*record.Record, error) {
	if r.Head == nil || r.Head == r.Files {
		return r.record, nil
	}
	rec, err := checkpoint.ReadRecord(ctx, r.s.Store, r.Head)
	if err != nil {
		return nil, checkpoint.DamagedError(r.Head, err)
	}
	return rec, nil
}
