// Package rollback goes back to a checkpoint, and undoes and redoes that: it plans,
// makes a safety checkpoint, moves files, index and branch, and writes the event. What was
// cut off half-way is finished or taken back. It refuses whatever would lose a file.
package rollback

import (
	"context"
	"errors"
	"fmt"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/clearance"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/snapshot"
	"git-checkpoint/internal/workflow"
)

// Plan is a rollback or undo, planned. Nothing of it has been done.
type Plan struct {
	s      *checkpoint.Service
	req    Request
	to     *checkpoint.Found // the checkpoint that becomes current; nil entry: none
	files  *journal.Entry    // the checkpoint whose files come back
	record *record.Record    // of files
	goal   *record.Record    // of to, for state and the step that follows
	undoes *journal.Event    // the last event that is taken back; nil for a rollback
	plan   *snapshot.Plan    // nil for ModeState
	cur    *snapshot.Capture
	forced []string // ignored paths that were captured
	answer *Answer
	taken  time.Time
	def    *workflow.Definition
	aside  *checkpoint.BranchBack // the branch that moves although HEAD is not on it

	promote *Promotion // nil but for a promotion

	// Of an undo or a redo.
	levels    []journal.Level // those that it goes over, in that order
	plans     []journal.Plan  // one for each
	indexFrom *journal.Entry  // the checkpoint whose index comes back; nil: that of the files
	headFrom  *journal.Entry  // likewise for HEAD
	legs      []int           // how many levels go in one transaction, one leg after the other
	redo      bool

	walk *walked // read when it is needed
}

// Answer is the plan as it will be shown.
func (r *Plan) Answer() *Answer { return r.answer }

// Prepare thinks a rollback through. It writes no ref and moves no file.
func Prepare(ctx context.Context, s *checkpoint.Service, req Request) (*Plan, error) {
	to, err := s.Reach(ctx, req.Session, req.Ref)
	if err != nil {
		return nil, err
	}
	files := to.Entry
	if files.Safety {
		if to, err = placeOf(to); err != nil {
			return nil, err
		}
	}
	req.Reason = clearance.Redacted(s, "reason", req.Reason)
	var r *Plan
	think := func() error {
		r = &Plan{s: s, req: req, to: to, files: files}
		return r.think(ctx)
	}
	if req.DryRun {
		err = s.RetryBorrowed(think)
	} else {
		err = think()
	}
	return r, err
}

// placeOf is where the job stood when a safety checkpoint was made: a rollback to its files
// goes there.
func placeOf(safety *checkpoint.Found) (*checkpoint.Found, error) {
	target, _, _, err := safety.State.SafetyPlan(safety.Entry.Checkpoint)
	switch {
	case errors.Is(err, journal.ErrNoPlace):
		return nil, &checkpoint.Error{
			Kind: checkpoint.KindRefused, Message: fmt.Sprintf("%s was made when no checkpoint was current, so there is no place to go back to", safety.Entry.Label),
			Hints: []string{fmt.Sprintf("`git restore --source=%s -- PATH` brings its files", safety.Entry.Event().Commit.Short())},
		}
	case err != nil:
		return nil, checkpoint.Classify(err)
	}
	return &checkpoint.Found{Session: safety.Session, State: safety.State, Entry: safety.State.Entry(target)}, nil
}

func (r *Plan) think(ctx context.Context) error {
	if r.req.Mode == "" {
		r.req.Mode = ModeAll
	}
	if r.req.Mode == ModeAll && len(r.req.Paths) > 0 {
		r.req.Mode = modePaths
	}
	if err := r.refuseEarly(); err != nil {
		return err
	}
	var err error
	var written contents
	if r.record, written, err = readTarget(ctx, r.s, r.files); err != nil {
		return err
	}
	if err := r.refuseWithoutFiles(); err != nil {
		return err
	}
	r.goal = r.record
	if r.promote == nil && r.to.Entry != nil && r.to.Entry != r.files && !r.to.Entry.Dead {
		if r.goal, _, _, err = r.s.ReadRecord(ctx, r.to.Entry); err != nil {
			return checkpoint.DamagedError(r.to.Entry, err)
		}
	}
	if r.req.Mode != ModeState {
		if err := r.planFiles(ctx, written); err != nil {
			return err
		}
	}
	if r.undoes != nil {
		if r.legs, err = courseOf(r).divide(ctx); err != nil {
			return err
		}
	}
	return r.answerPlan(ctx)
}

// refuseWithoutFiles holds back a way to files that nobody captured: the checkpoint was
// imported from documents of another system, and the commit that they name is not here.
func (r *Plan) refuseWithoutFiles() error {
	if r.record.Snapshot.Tree != "" || r.req.Mode == ModeState {
		return nil
	}
	return &checkpoint.Error{
		Kind: checkpoint.KindRefused, Message: r.files.Label + " was imported without files, so none can be brought back",
		Hints: []string{"--state-only goes back to its state and leaves the files as they are"},
	}
}

// modePaths is the mode of a rollback of some paths only.
const modePaths Mode = "paths"

// refuseUnfinished refuses to start a rollback while another one is not over.
func refuseUnfinished(s *checkpoint.Service) error {
	dir, err := s.Repo.Dir()
	if err != nil {
		return checkpoint.Classify(err)
	}
	if snapshot.Moving(dir) {
		return checkpoint.Classify(snapshot.ErrBusy)
	}
	return s.RefuseHalfRolledBack()
}

// refuseEarly holds back what cannot be done in this state of the worktree.
func (r *Plan) refuseEarly() error {
	if err := refuseUnfinished(r.s); err != nil {
		return err
	}
	if op := r.s.Repo.Operation(); op != "" && !r.req.Force && r.req.Mode != ModeState {
		end := "git " + op + " --abort"
		if op == "bisect" {
			end = "git bisect reset"
		}
		e := &checkpoint.Error{Kind: checkpoint.KindRefused, Message: "a " + op + " is in progress in this worktree", Hints: []string{"`" + end + "` ends it"}}
		if r.undoes == nil {
			e.Hints = append(e.Hints, "--force restores files only and leaves it in progress")
		}
		return e
	}
	return nil
}
