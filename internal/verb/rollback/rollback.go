// Package rollback takes the worktree, the index, HEAD and the job's state back to a checkpoint,
// and undoes and redoes that.
//
// A rollback has two phases. Prepare (or PrepareUndo, PrepareMove) returns a Plan and changes
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
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/continuation"
	"git-checkpoint/internal/verb/create"
)

// Move is what a command wants: where files, index, HEAD and session go, and what is said of it. Rollback,
// restore, undo, promote, land and revert make one each. What plans and carries it out knows no command.
type Move struct {
	To    *checkpoint.Found // the session, at the checkpoint that is current afterwards; its Entry is nil if none is
	Files *journal.Entry    // the checkpoint whose files come back
	Index *journal.Entry    // the one whose index comes back; nil: Files
	Head  *journal.Entry    // the one whose HEAD comes back; nil: Files
	// Merge combines what is there now with what is to come back; nil: the latter replaces the former.
	Merge  func(ctx context.Context, now *snapshot.Capture, t snapshot.Target) (snapshot.Target, error)
	Branch *checkpoint.BranchPlan // where HEAD goes, with an index that Merge has made for it if it moves; nil: as Head and the request say

	Adds      bool // the session stays, and is to get a checkpoint on top: nothing is discarded
	Part      bool // only some paths come back, and the session stays, also in the undo; needs Named and ModePaths
	Exact     bool // everything comes back as it was: flags of the index, and files that are ignored or excluded by now
	FilesStay bool // no file changes, so Files does not say what the worktree gets

	discard, restore []name.ID // the checkpoints that become discarded, and live again

	Mode   Mode            // in the event; empty: that of the request
	Named  bool            // event and plan name Files, because To is another one, or the session stays (Part)
	Before string          // the message of the safety checkpoint
	Then   *create.Request // the checkpoint that is made when the files are there; nil: none
	Says   func(*Answer)   // adds what the command itself says to the plan; nil: nothing
}

// stays reports whether the session stays at its current checkpoint.
func (m Move) stays() bool { return m.Adds || m.Part && !m.Exact }

// Plan is a planned move. Nothing has been changed yet.
type Plan struct {
	*fileMoves
	branch       branchMove
	transactions []int // of an undo: how many levels each transaction undoes; see divide
	def          *workflow.Definition
	answer       *Answer
	asked        target                     // what it was computed from
	ready        time.Time                  // when
	conversation *continuation.Conversation // that goes on from there; nil: it is left alone
	prepared     *continuation.Prepared     // from Apply on
}

// target is a move with what was asked for and, when read has completed it, the records that it needs.
type target struct {
	s   *checkpoint.Service
	req Request
	Move
	undo // of an undo or a redo; without levels for others

	record *record.Record // the record of Files
	goal   *record.Record // the record of To: gives the state and the next step
}

// undo is the part of a target that describes an undo or a redo.
type undo struct {
	lists       *undoLists      // for others, those of the session alone
	levels      []journal.Level // the levels that are undone, the newest first
	direction   direction
	takeCommits bool            // UndoRequest.Force
	only        map[string]bool // of restores: the paths that they changed; nil: those of the request, or all
}

// fileMoves is what a rollback to a target does to files and index. For ModeState only the target
// is set.
type fileMoves struct {
	*target
	cur  *snapshot.Capture // the worktree as it is; its tree becomes that of the safety checkpoint
	plan *snapshot.Plan    // nil for ModeState
}

// Answer returns what the plan will do, for display. Apply completes it.
func (r *Plan) Answer() *Answer { return r.answer }

// Prepare plans a rollback to the checkpoint that req.Ref names. It writes no ref and moves no
// file. With DryRun it also works in a repository that can only be read.
func Prepare(ctx context.Context, s *checkpoint.Service, req Request) (*Plan, error) {
	to, err := s.Sessions.ReachOne(ctx, req.Session, req.Ref)
	if err != nil {
		return nil, err
	}
	req.Reason = clearance.Redacted(s.Rules, "reason", req.Reason)
	if len(req.Paths) > 0 && !req.WithState && req.Mode != ModeState { // some paths and nothing else
		t, err := restoring(s, req, to)
		if err != nil {
			return nil, err
		}
		return plan(ctx, t)
	}
	t := target{s: s, req: req, Move: Move{Files: to.Entry, Named: to.Entry.Safety}}
	// A safety checkpoint is never current itself: the session returns to the checkpoint that was current when it was made.
	id, discard, restore, err := to.State.RollbackPlan(to.Entry.Checkpoint)
	if errors.Is(err, journal.ErrNoPlace) {
		hint := fmt.Sprintf("`git restore --source=%s -- PATH` brings its files", to.Entry.Event().Commit.Short())
		err = checkpoint.Failure(checkpoint.KindRefused, hint, "%s was made when there was no current checkpoint, so there is none to go back to", checkpoint.CalledBy(to.Entry))
	}
	if err != nil {
		return nil, err
	}
	t.To = &checkpoint.Found{Session: to.Session, State: to.State, Entry: to.State.Entry(id)}
	t.discard, t.restore = discard, restore
	t.Before = "before the rollback to " + checkpoint.CalledBy(t.To.Entry)
	return plan(ctx, t)
}

// PrepareMove plans a move, as Prepare plans a rollback.
func PrepareMove(ctx context.Context, s *checkpoint.Service, m Move, req Request) (*Plan, error) {
	req.Branch = BranchKeep
	return plan(ctx, target{s: s, req: req, Move: m})
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

// compute plans the whole move: files and index, levels of an undo, the branch, and the answer.
func compute(ctx context.Context, asked target) (*Plan, error) {
	t, got, err := asked.read(ctx)
	if err != nil {
		return nil, err
	}
	r := &Plan{fileMoves: &fileMoves{target: t}, asked: asked}
	if t.req.Mode != ModeState {
		if r.fileMoves, err = t.moveFiles(ctx, got); err != nil {
			return nil, err
		}
	}
	if r.transactions, err = r.divide(ctx); err != nil {
		return nil, err
	}
	if r.answer, err = r.describe(ctx); err != nil {
		return nil, err
	}
	if err := r.moveSession(ctx); err != nil {
		return nil, err
	}
	if r.branch, err = r.moveBranch(ctx, r.def); err != nil {
		return nil, err
	}
	a := r.answer
	a.Branch, a.Warnings = r.branch.BranchPlan, slices.Concat(r.operationOver(ctx), a.Warnings, r.branch.warnings)
	if r.plan != nil && !r.Adds && !r.FilesStay && !a.Branch.Moved {
		a.Elsewhere = checkpoint.OtherBranch(r.s.Repo, r.record)
	}
	if err := r.converse(ctx); err != nil {
		return nil, err
	}
	a.Said, a.Empty = r.customMessage("rollback_plan", a), r.changesNothing()
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
	if r.lists == nil {
		r.lists = &undoLists{states: []*journal.State{r.To.State}}
	}
	var err error
	var got contents
	if r.record, got, err = readTarget(ctx, r.s.Store, r.Files); err != nil {
		return nil, got, r.damaged(ctx, r.Files, err)
	}
	if r.record.Snapshot.Tree == "" && r.req.Mode != ModeState { // imported, and the commit that it names is not in this repository
		return nil, got, checkpoint.Failure(checkpoint.KindRefused, "--state-only goes back to its state, and leaves the files as they are", "%s was imported without files, so none can be restored", checkpoint.MentionOf(r.record))
	}
	r.goal = r.record
	// The state comes from the checkpoint that becomes current, the files from another one: an
	// undo, or a rollback to a safety checkpoint.
	if !r.Adds && r.To.Entry != nil && r.To.Entry != r.Files && !r.To.Entry.Dead {
		goal, err := checkpoint.ReadRecord(ctx, r.s.Store, r.To.Entry)
		switch {
		case err == nil:
			r.goal = goal
		case ctx.Err() != nil:
			return nil, got, context.Cause(ctx)
		default: // the files do not need it, and they must come back
			r.s.Store.Warn(fmt.Sprintf("%s becomes current although it cannot be read: %v", checkpoint.CalledBy(r.To.Entry), err))
		}
	}
	return &r, got, nil
}

// refuseUnfinished returns an error while another rollback in this worktree runs, or was killed and
// is neither continued nor aborted.
func refuseUnfinished(repo *git.Repo) error {
	dir, err := repo.Dir()
	if err != nil {
		return err
	}
	if snapshot.Moving(dir) {
		return snapshot.ErrBusy
	}
	return checkpoint.RefuseHalfRolledBack(repo)
}

// refuseEarly returns an error if this worktree cannot be rolled back now: a merge or rebase is in
// progress, and its own state in the git directory would not fit the restored files. With Force
// only files are restored.
func (r *target) refuseEarly() error {
	if err := refuseUnfinished(r.s.Repo); err != nil {
		return err
	}
	if op := r.s.Repo.Checkout.Operation(); op != "" && !r.req.Force && r.req.Mode != ModeState {
		e := checkpoint.Failure(checkpoint.KindRefused, "`"+git.EndOf(op)+"` ends it", "%s is in progress in this worktree", git.AnOperation(op))
		// An undo has no --force: sameOperation decides.
		if !r.Exact {
			e.Hints = append(e.Hints, "--force restores only files, and leaves it in progress")
		}
		return e
	}
	return nil
}
