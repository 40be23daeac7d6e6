// Package rollback takes the worktree, the index, HEAD and the job's state back to a checkpoint,
// and undoes and redoes that.
//
// A rollback has two phases. Prepare (or PrepareUndo, PreparePromotion) returns a Plan and changes
// nothing, so that the user can look at the plan first. Plan.Apply carries it out in this order:
//
//  0. With Request.Chat, prepare a conversation that goes on from there (package continuation).
//  1. Stage new files beside the old ones, so that a full disk is noticed before anything changes.
//  2. Make a safety checkpoint of the worktree as it is (package create). An undo goes back to it.
//  3. Write the intent file, which says how far the rollback is (snapshot.Restore).
//  4. Move the files and the index, then HEAD, then write the event to the journal.
//
// If a step fails, goBack reverts the ones before it. If the process is killed after step 3,
// Continue or Abort finishes or reverts the rollback by the intent file. A plan that would lose
// data that no checkpoint has is refused.
//
// Start reading at Prepare and compute. Undo lists and levels are in walk.go and parts.go.
package rollback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
)

// Plan is a planned rollback, undo, redo or promotion. Nothing has been changed yet.
type Plan struct {
	fileMoves
	chat
	branch       branchMove
	transactions []int // of an undo: how many levels each transaction undoes; see divide
	def          *workflow.Definition
	left         []*journal.Entry // what is left behind, as Answer.Leaves
	answer       *Answer
	asked        target    // what it was computed from
	ready        time.Time // when
}

// target is where a rollback, undo, redo or promotion leads. Prepare, PrepareUndo and the like choose
// it, and read completes it.
type target struct {
	s       *checkpoint.Service
	req     Request
	to      *checkpoint.Found // the checkpoint that becomes current; its Entry is nil if none does
	files   *journal.Entry    // the checkpoint whose files are restored
	promote *Promotion        // nil unless this is a promotion or a landing
	undo                      // empty unless this is an undo or a redo
	restore                   // empty unless only some paths come back

	record *record.Record // the record of files
	goal   *record.Record // the record of to: gives the state and the next step
}

// undo is the part of a target that describes an undo or a redo.
type undo struct {
	lists       *undoLists
	levels      []journal.Level // the levels that are undone, the newest first; never empty
	plans       []journal.Plan  // for each level, what it discards and restores
	direction   direction
	takeCommits bool // UndoRequest.Force

	filesStay bool           // no level wrote a file, so files does not say what the worktree gets
	indexFrom *journal.Entry // the checkpoint whose index is restored; nil: that of files
	headFrom  *journal.Entry // the checkpoint whose HEAD is restored; nil: that of files
}

// fileMoves is what a rollback to a target does to files and index. For ModeState only the target
// is set.
type fileMoves struct {
	*target
	cur  *snapshot.Capture // the worktree as it is; its tree becomes that of the safety checkpoint
	plan *snapshot.Plan    // nil for ModeState
}

// isUndo reports whether this is an undo or a redo.
func (u undo) isUndo() bool { return len(u.levels) > 0 }

// Answer returns what the plan will do, for display. Apply completes it.
func (r *Plan) Answer() *Answer { return r.answer }

// Prepare plans a rollback to the checkpoint that req.Ref names. It writes no ref and moves no
// file. With DryRun it also works in a repository that can only be read.
func Prepare(ctx context.Context, s *checkpoint.Service, req Request) (*Plan, error) {
	to, err := s.ReachOne(ctx, req.Session, req.Ref)
	if err != nil {
		return nil, err
	}
	req.Reason = clearance.Redacted(s, "reason", req.Reason)
	if len(req.Paths) > 0 && !req.WithState && req.Mode != ModeState { // some paths and nothing else
		t, err := restoring(s, req, to)
		if err != nil {
			return nil, err
		}
		return plan(ctx, t)
	}
	files := to.Entry
	if files.Safety {
		if to, err = placeOf(to); err != nil {
			return nil, err
		}
	}
	return plan(ctx, target{s: s, req: req, to: to, files: files})
}

// plan computes the plan for a target. For a dry run it also works in a repository that can only be
// read, and may start a second time for that.
func plan(ctx context.Context, asked target) (*Plan, error) {
	once := func() (*Plan, error) { return compute(ctx, asked) }
	if asked.req.DryRun {
		return checkpoint.RetryBorrowed(asked.s, once)
	}
	return once()
}

// placeOf returns the checkpoint that was current when a safety checkpoint was made. A rollback to
// a safety checkpoint restores its files, but the session returns to that one: a safety checkpoint
// is never current.
func placeOf(safety *checkpoint.Found) (*checkpoint.Found, error) {
	id, _, _, err := safety.State.SafetyPlan(safety.Entry.Checkpoint)
	switch {
	case errors.Is(err, journal.ErrNoPlace):
		hint := fmt.Sprintf("`git restore --source=%s -- PATH` brings its files", safety.Entry.Event().Commit.Short())
		return nil, checkpoint.Failure(checkpoint.KindRefused, hint, "%s was made when there was no current checkpoint, so there is none to go back to", checkpoint.CalledBy(safety.Entry))
	case err != nil:
		return nil, err
	}
	return &checkpoint.Found{Session: safety.Session, State: safety.State, Entry: safety.State.Entry(id)}, nil
}

// compute plans the whole move: files and index, levels of an undo, the branch, and the answer.
func compute(ctx context.Context, asked target) (*Plan, error) {
	t, got, err := asked.read(ctx)
	if err != nil {
		return nil, err
	}
	moves := &fileMoves{target: t}
	if t.req.Mode != ModeState {
		if moves, err = t.moveFiles(ctx, got); err != nil {
			return nil, err
		}
	}
	r := &Plan{fileMoves: *moves, asked: asked}
	if t.isUndo() {
		if r.transactions, err = moves.divide(ctx); err != nil {
			return nil, err
		}
	}
	a, err := moves.describe(ctx)
	if err != nil {
		return nil, err
	}
	next, err := t.moveSession(ctx)
	if err != nil {
		return nil, err
	}
	a.Plan.Discard, a.Prompts, a.NextStep, a.Pending, r.def = next.discard, next.prompts, next.step, next.pending, next.def
	a.Leaves, r.left = next.leaves, next.left
	if r.branch, err = moves.moveBranch(ctx, next.def); err != nil {
		return nil, err
	}
	a.Branch, a.Warnings = r.branch.BranchPlan, slices.Concat(r.operationOver(ctx), a.Warnings, r.branch.warnings)
	if r.plan != nil && r.promote == nil && !r.filesStay && !a.Branch.Moved {
		a.Elsewhere = checkpoint.Elsewhere(r.s, r.record)
	}
	r.answer = a
	if err := r.converse(ctx); err != nil {
		return nil, err
	}
	a.Said, a.Empty = r.customMessage("rollback_plan", a), r.changesNothing()
	r.mention(ctx)
	r.ready = time.Now()
	return r, nil
}

// read completes a target with the records that it needs, or refuses it. It also returns what the
// record commit of the files holds.
func (r target) read(ctx context.Context) (*target, contents, error) {
	if r.req.Mode = cmp.Or(r.req.Mode, ModeAll); r.req.Mode == ModeAll && len(r.req.Paths) > 0 {
		r.req.Mode = ModePaths
	}
	if err := r.refuseEarly(); err != nil {
		return nil, contents{}, err
	}
	var err error
	var got contents
	if r.record, got, err = readTarget(ctx, r.s, r.files); err != nil {
		return nil, got, r.damaged(ctx, r.files, err)
	}
	if err := r.refuseWithoutFiles(); err != nil {
		return nil, got, err
	}
	r.goal = r.record
	// The state comes from the checkpoint that becomes current, the files from another one: an
	// undo, or a rollback to a safety checkpoint.
	if r.promote == nil && r.to.Entry != nil && r.to.Entry != r.files && !r.to.Entry.Dead {
		goal, err := r.s.ReadRecord(ctx, r.to.Entry)
		switch {
		case err == nil:
			r.goal = goal
		case ctx.Err() != nil:
			return nil, got, context.Cause(ctx)
		default: // the files do not need it, and they must come back
			r.s.Warn(fmt.Sprintf("%s becomes current although it cannot be read: %v", checkpoint.CalledBy(r.to.Entry), err))
		}
	}
	return &r, got, nil
}

// refuseWithoutFiles refuses to restore the files of a checkpoint that has none: it was imported
// from documents of another system, and the commit that they name is not in this repository.
func (r *target) refuseWithoutFiles() error {
	if r.record.Snapshot.Tree != "" || r.req.Mode == ModeState {
		return nil
	}
	return checkpoint.Failure(checkpoint.KindRefused, "--state-only goes back to its state, and leaves the files as they are", "%s was imported without files, so none can be restored", checkpoint.MentionOf(r.record))
}

// refuseUnfinished returns an error while another rollback in this worktree runs, or was killed and
// is neither continued nor aborted.
func refuseUnfinished(s *checkpoint.Service) error {
	dir, err := s.Repo.Dir()
	if err != nil {
		return err
	}
	if snapshot.Moving(dir) {
		return snapshot.ErrBusy
	}
	return s.RefuseHalfRolledBack()
}

// refuseEarly returns an error if this worktree cannot be rolled back now: a merge or rebase is in
// progress, and its own state in the git directory would not fit the restored files. With Force
// only files are restored.
func (r *target) refuseEarly() error {
	if err := refuseUnfinished(r.s); err != nil {
		return err
	}
	if op := r.s.Repo.Checkout.Operation(); op != "" && !r.req.Force && r.req.Mode != ModeState {
		e := checkpoint.Failure(checkpoint.KindRefused, "`"+git.EndOf(op)+"` ends it", "%s is in progress in this worktree", git.AnOperation(op))
		// An undo has no --force: sameOperation decides.
		if !r.isUndo() {
			e.Hints = append(e.Hints, "--force restores only files, and leaves it in progress")
		}
		return e
	}
	return nil
}
