package rollback

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/snapshot"
)

// parts says which safety checkpoint holds what is in the worktree at a point of a walk
// over several levels, by the place of its level. Rollbacks of some modes bring back only
// one part, and so do their undos.
type parts struct{ files, index, head int }

// here stands for the safety checkpoint that the walk makes itself.
const here = -1

// course is the way of a walk over its levels.
type course struct {
	s         *checkpoint.Service
	walk      *walked
	direction direction
	levels    []journal.Level
	cur       *snapshot.Capture // the worktree now; nil where no file moves
	filesOnly bool              // index and HEAD stay, because an operation of git's is in progress
}

func courseOf(r *Plan) *course {
	return &course{r.s, r.walk, r.direction(), r.levels, r.cur, r.req.Force && r.s.Repo.Operation() != ""}
}

// partsBefore gives the parts before each level is taken back, and at the end, of a walk
// that begins at one of them.
func (c *course) partsBefore(first int) []parts {
	at := parts{here, here, here}
	all := make([]parts, first, len(c.levels)+1)
	all = append(all, at)
	for i, l := range c.levels {
		if i < first {
			continue
		}
		mode := modeOf(l.Head)
		if mode != ModeState {
			at.files = i
		}
		if mode == ModeAll && !c.filesOnly {
			at.index = i
		}
		if l.Head.Branch != "" && !c.filesOnly {
			at.head = i
		}
		all = append(all, at)
	}
	return all
}

// chooseParts finds the checkpoints whose files, index and HEAD come back in the end.
func (r *Plan) chooseParts(ctx context.Context) error {
	r.req = Request{Mode: ModeState, Branch: BranchKeep, Force: r.sameOperation(ctx)}
	last := len(r.levels) - 1
	end := courseOf(r).partsBefore(0)[last+1]
	safety := func(at int) (*journal.Entry, error) {
		e := r.walk.entry(r.levels[at].Head.Safety)
		if e == nil || e.Dead {
			return nil, r.walk.withoutSafety(r.direction(), at+1)
		}
		return e, nil
	}
	var err error
	if r.files, err = safety(last); err != nil || end.files == here {
		return err
	}
	r.req.Mode = ModeWorktree
	if r.files, err = safety(end.files); err != nil {
		return err
	}
	if end.index != here || r.req.Force { // which leaves the index alone
		r.req.Mode = ModeAll
	}
	if end.index != here && end.index != end.files {
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

// divide cuts a walk into legs, each of which is one transaction: the levels of one
// session, as long as some checkpoint holds all that is there between two of them, to
// which a redo of the second one has to return. The next leg makes a safety checkpoint of
// its own.
func (c *course) divide(ctx context.Context) (legs []int, err error) {
	first := 0
	for i := 1; i <= len(c.levels); i++ {
		if i < len(c.levels) {
			together, err := c.goTogether(ctx, first, i)
			if err != nil {
				return nil, err
			}
			if together {
				continue
			}
		}
		if isGone(c.walk.entry(c.levels[i-1].Head.Safety)) {
			return nil, c.walk.withoutSafety(c.direction, i)
		}
		legs = append(legs, i-first)
		first = i
	}
	return legs, nil
}

// goTogether reports whether a level goes in the leg that begins at first.
func (c *course) goTogether(ctx context.Context, first, level int) (bool, error) {
	l, at := c.levels[level], c.partsBefore(first)[level]
	if l.State != c.levels[first].State || movesAside(ctx, c.s, c.walk, l) || movesAside(ctx, c.s, c.walk, c.levels[level-1]) {
		return false, nil
	}
	needsIndex := modeOf(l.Head) == ModeAll && at.index != at.files
	needsHead := l.Head.Branch != "" && at.head != at.files
	if !needsIndex && !needsHead {
		return true, nil
	}
	var of [3]held
	for i, part := range []int{at.files, at.index, at.head} {
		if part == here && (first > 0 || c.cur == nil) || part != here && isGone(c.walk.entry(c.levels[part].Head.Safety)) {
			return false, nil // it is not known yet, or not any more
		}
		var err error
		if of[i], err = c.heldBy(ctx, part); err != nil {
			return false, err
		}
	}
	files, index, head := of[0], of[1], of[2]
	return (!needsIndex || sameIndex(index.index, files.index)) && (!needsHead || head.isAt(files)), nil
}

// applyLegs does a walk that is more than one transaction. When it ends early it stands
// between two legs, where an undo or a redo of them would have led too.
func applyLegs(ctx context.Context, r *Plan) (*Answer, error) {
	done := 0
	for _, count := range r.legs {
		leg, err := PrepareUndo(ctx, r.s, UndoRequest{Redo: r.redo, Levels: count})
		var answer *Answer
		if err == nil {
			answer, err = leg.Apply(ctx)
		}
		var known *checkpoint.Error
		if errors.As(err, &known) && done > 0 {
			known.Hints = append(known.Hints, fmt.Sprintf("the first %d of %d are done, and `git checkpoint %s %d` goes on", done, len(r.levels), r.direction(), len(r.levels)-done))
		}
		if err != nil {
			return nil, err
		}
		if done == 0 {
			r.answer.Safety = answer.Safety
		}
		r.s.Repo.Refresh() // the leg may have moved HEAD
		done += count
	}
	r.answer.DryRun = false
	r.answerNext(ctx)
	return r.answer, nil
}

func isGone(e *journal.Entry) bool { return e == nil || e.Dead }

// held is the index and the HEAD of a moment.
type held struct {
	index  snapshot.IndexState
	branch name.Ref
	commit name.OID
}

// isAt reports whether HEAD is the same in both.
func (h held) isAt(other held) bool { return h.branch == other.branch && h.commit == other.commit }

// heldBy is what the safety checkpoint of a level holds, or the worktree now.
func (c *course) heldBy(ctx context.Context, level int) (held, error) {
	if level == here {
		return held{c.cur.Index, c.s.Repo.Head.Branch, c.s.Repo.Head.OID}, nil
	}
	e := c.walk.entry(c.levels[level].Head.Safety)
	if isGone(e) {
		return held{}, c.walk.withoutSafety(c.direction, level+1)
	}
	rec, got, err := readTarget(ctx, c.s, e)
	if err != nil {
		return held{}, err
	}
	h := held{branch: name.Ref(rec.Git.Branch), commit: rec.Git.Head}
	if ix := indexOf(rec, got); ix != nil {
		h.index = *ix
	}
	return h, nil
}

func sameIndex(a, b snapshot.IndexState) bool {
	return a.Tree == b.Tree && slices.Equal(a.Unmerged, b.Unmerged) && slices.Equal(a.IntentToAdd, b.IntentToAdd) &&
		slices.Equal(a.AssumeUnchanged, b.AssumeUnchanged) && slices.Equal(a.SkipWorktree, b.SkipWorktree)
}

// undone says of each level what its event names, now that the walk's own safety
// checkpoint is known.
func (c *course) undone(ctx context.Context, own name.ID, branch string) ([]checkpoint.UndoneLevel, error) {
	before := c.partsBefore(0)
	all := make([]checkpoint.UndoneLevel, len(c.levels))
	for i, l := range c.levels {
		u := checkpoint.UndoneLevel{Undoes: l.Head.OID, Safety: own, Mode: string(modeOf(l.Head))}
		if at := before[i].files; at != here {
			u.Safety = c.levels[at].Head.Safety
		}
		switch {
		case len(c.levels) == 1:
			u.Branch = branch
		case before[i+1].head == i:
			moved, err := c.headAfter(ctx, before[i].head, i)
			if err != nil {
				return nil, err
			}
			u.Branch = moved
		}
		all[i] = u
	}
	return all, nil
}

// headAfter is the branch that a level puts HEAD on, or "HEAD"; empty where HEAD is there already.
func (c *course) headAfter(ctx context.Context, before, level int) (string, error) {
	if isGone(c.walk.entry(c.levels[level].Head.Safety)) {
		return c.levels[level].Head.Branch, nil
	}
	after, err := c.heldBy(ctx, level)
	if err != nil {
		return "", err
	}
	if before == here || !isGone(c.walk.entry(c.levels[before].Head.Safety)) {
		was, err := c.heldBy(ctx, before)
		if err != nil || was.isAt(after) {
			return "", err
		}
	}
	if after.branch == "" {
		return "HEAD", nil
	}
	return string(after.branch), nil
}

// headRecord is of the checkpoint whose HEAD comes back.
func headRecord(ctx context.Context, r *Plan) (*record.Record, error) {
	if r.headFrom == nil || r.headFrom == r.files {
		return r.record, nil
	}
	rec, _, _, err := r.s.ReadRecord(ctx, r.headFrom)
	if err != nil {
		return nil, checkpoint.DamagedError(r.headFrom, err)
	}
	return rec, nil
}
