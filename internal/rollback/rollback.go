// Package rollback goes back to a checkpoint, and undoes and redoes that: it plans,
// makes a safety checkpoint, moves files, index and branch, and writes the event. What was
// cut off half-way is finished or taken back. It refuses whatever would lose a file.
package rollback

import (
	"context"
	"fmt"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/snapshot"
	"git-checkpoint/internal/workflow"
)

// Rollback is a rollback or undo, planned. Nothing of it has been done.
type Plan struct {
	s      *checkpoint.Service
	req    Request
	to     *checkpoint.Found // the checkpoint that becomes current; nil entry: none
	files  *journal.Entry    // the checkpoint whose files come back
	record *record.Record    // of files
	goal   *record.Record    // of to, for state and the step that follows
	undoes *journal.Event    // nil for a rollback
	plan   *snapshot.Plan    // nil for ModeState
	cur    *snapshot.Capture
	forced []string // ignored paths that were captured
	answer *Answer
	taken  time.Time
	def    *workflow.Definition
	aside  *checkpoint.BranchBack // the branch that moves although HEAD is not on it
}

// Answer is the plan as it will be shown.
func (r *Plan) Answer() *Answer { return r.answer }

// PlanRollback thinks a rollback through. It writes no ref and moves no file.
func Prepare(ctx context.Context, s *checkpoint.Service, req Request) (*Plan, error) {
	to, err := s.Resolve(ctx, req.Session, req.Ref)
	if err != nil {
		return nil, err
	}
	if to.Entry.Safety {
		return nil, checkpoint.Usage("`git checkpoint undo` goes back to it", "%s is the safety checkpoint of a rollback", to.Entry.Label)
	}
	var r *Plan
	think := func() error {
		r = &Plan{s: s, req: req, to: to, files: to.Entry}
		return r.think(ctx)
	}
	if req.DryRun {
		err = s.RetryBorrowed(think)
	} else {
		err = think()
	}
	return r, err
}

// PlanUndo plans to take back the last rollback or undo of this worktree.
func PrepareUndo(ctx context.Context, s *checkpoint.Service, request string, dry bool) (*Plan, error) {
	if err := refuseUnfinished(s); err != nil { // it may be the first one, and in no journal yet
		return nil, err
	}
	id, err := s.Store.WorktreeID()
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	session, err := lastMoved(ctx, s, request, id)
	if err != nil {
		return nil, err
	}
	st, err := s.State(ctx, session)
	if err != nil {
		return nil, err
	}
	plan, err := st.UndoPlan(id)
	if err != nil {
		return nil, nothingToUndo(st, err)
	}
	r := &Plan{s: s, to: &checkpoint.Found{Session: session, State: st, Entry: st.Entry(plan.Target)}, files: st.Entry(plan.Safety), undoes: plan.Undoes}
	if r.files == nil || r.files.Dead {
		return nil, &checkpoint.Error{Kind: checkpoint.KindNotFound, Message: "the safety checkpoint of that rollback was pruned, so it cannot be undone"}
	}
	r.req = Request{Mode: modeOf(plan.Undoes), DryRun: dry, Branch: BranchKeep, Force: r.sameOperation(ctx)}
	if plan.Undoes.Branch != "" {
		r.req.Branch = BranchMove
	}
	planned := *r
	think := func() error {
		planned = *r
		return planned.think(ctx)
	}
	if dry {
		err = s.RetryBorrowed(think)
	} else {
		err = think()
	}
	return &planned, err
}

// sameOperation reports whether a rollback that is to be undone was made in the middle of what is
// in progress still: it brought files only, and so does its undo. Any other one moved more,
// which cannot come back before that is over.
func (r *Plan) sameOperation(ctx context.Context) bool {
	op := r.s.Repo.Operation()
	if op == "" {
		return false
	}
	then, _, _, err := r.s.ReadRecord(ctx, r.files)
	return err == nil && then.Git.Operation == op
}

// lastMoved is the session of this worktree's last rollback, whichever is active.
func lastMoved(ctx context.Context, s *checkpoint.Service, request, worktree string) (name.Session, error) {
	sessions, _, err := s.Store.Sessions(ctx)
	if err != nil {
		return "", checkpoint.Classify(err)
	}
	var last *journal.Event
	for _, info := range sessions {
		st, err := s.Store.State(ctx, info.Session)
		if err != nil || request != "" && string(info.Session) != request {
			continue // one damaged session hides no other
		}
		if e := st.UndoTarget(worktree); e != nil && (last == nil || e.Time.After(last.Time)) {
			last = e
		}
	}
	if last == nil {
		return s.ChooseSession(ctx, request)
	}
	return last.Session, nil
}

// modeOf is what a rollback brought back, and its undo too.
func modeOf(e *journal.Event) Mode {
	switch m := Mode(e.Mode); m {
	case ModeWorktree, ModeState:
		return m
	}
	return ModeAll // the safety checkpoint has everything, whatever the scope was
}

func nothingToUndo(st *journal.State, err error) error {
	e := &checkpoint.Error{Kind: checkpoint.KindNotFound, Err: err}
	for _, c := range st.UndoCandidates() {
		e.Hints = append(e.Hints, fmt.Sprintf("%s in worktree %s: `git checkpoint rollback %s`", c.Subject(), c.Worktree, c.From))
	}
	return e
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
	if r.to.Entry != nil && r.to.Entry != r.files && !r.to.Entry.Dead {
		if r.goal, _, _, err = r.s.ReadRecord(ctx, r.to.Entry); err != nil {
			return checkpoint.DamagedError(r.to.Entry, err)
		}
	}
	if r.req.Mode != ModeState {
		if err := r.planFiles(ctx, written); err != nil {
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
