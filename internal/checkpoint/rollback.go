package checkpoint

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/snapshot"
	"git-checkpoint/internal/workflow"
)

// Rollback is a rollback or undo, planned. Nothing of it has been done.
type Rollback struct {
	s      *Service
	req    RollbackRequest
	to     *found         // the checkpoint that becomes current; nil entry: none
	files  *journal.Entry // the checkpoint whose files come back
	record *record.Record // of files
	goal   *record.Record // of to, for state and the step that follows
	undoes *journal.Event // nil for a rollback
	plan   *snapshot.Plan // nil for ModeState
	cur    *snapshot.Capture
	forced []string // ignored paths that were captured
	answer *RollbackAnswer
	taken  time.Time
	def    *workflow.Definition
	aside  *BranchBack // the branch that moves although HEAD is not on it
}

// Answer is the plan as it will be shown.
func (r *Rollback) Answer() *RollbackAnswer { return r.answer }

// PlanRollback thinks a rollback through. It writes no ref and moves no file.
func (s *Service) PlanRollback(ctx context.Context, req RollbackRequest) (*Rollback, error) {
	to, err := s.resolve(ctx, req.Session, req.Ref)
	if err != nil {
		return nil, err
	}
	if to.entry.Safety {
		return nil, usage("`git checkpoint undo` goes back to it", "%s is the safety checkpoint of a rollback", to.entry.Label)
	}
	var r *Rollback
	think := func() error {
		r = &Rollback{s: s, req: req, to: to, files: to.entry}
		return r.think(ctx)
	}
	if req.DryRun {
		err = s.lookOn(think)
	} else {
		err = think()
	}
	return r, err
}

// PlanUndo plans to take back the last rollback or undo of this worktree.
func (s *Service) PlanUndo(ctx context.Context, request string, dry bool) (*Rollback, error) {
	if err := s.refuseUnfinished(); err != nil { // it may be the first one, and in no journal yet
		return nil, err
	}
	id, err := s.store.WorktreeID()
	if err != nil {
		return nil, classify(err)
	}
	session, err := s.lastMoved(ctx, request, id)
	if err != nil {
		return nil, err
	}
	st, err := s.state(ctx, session)
	if err != nil {
		return nil, err
	}
	plan, err := st.UndoPlan(id)
	if err != nil {
		return nil, nothingToUndo(st, err)
	}
	r := &Rollback{s: s, to: &found{session, st, st.Entry(plan.Target)}, files: st.Entry(plan.Safety), undoes: plan.Undoes}
	if r.files == nil || r.files.Dead {
		return nil, &Error{Kind: KindNotFound, Message: "the safety checkpoint of that rollback was pruned, so it cannot be undone"}
	}
	r.req = RollbackRequest{Mode: modeOf(plan.Undoes), DryRun: dry, Branch: BranchKeep, Force: r.sameOperation(ctx)}
	if plan.Undoes.Branch != "" {
		r.req.Branch = BranchMove
	}
	planned := *r
	think := func() error {
		planned = *r
		return planned.think(ctx)
	}
	if dry {
		err = s.lookOn(think)
	} else {
		err = think()
	}
	return &planned, err
}

// sameOperation reports whether a rollback that is to be undone was made in the middle of what is
// in progress still: it brought files only, and so does its undo. Any other one moved more,
// which cannot come back before that is over.
func (r *Rollback) sameOperation(ctx context.Context) bool {
	op := r.s.repo.Operation()
	if op == "" {
		return false
	}
	then, _, _, err := r.s.readRecord(ctx, r.files)
	return err == nil && then.Git.Operation == op
}

// lastMoved is the session of this worktree's last rollback, whichever is active.
func (s *Service) lastMoved(ctx context.Context, request, worktree string) (name.Session, error) {
	sessions, _, err := s.store.Sessions(ctx)
	if err != nil {
		return "", classify(err)
	}
	var last *journal.Event
	for _, info := range sessions {
		st, err := s.store.State(ctx, info.Session)
		if err != nil || request != "" && string(info.Session) != request {
			continue // one damaged session hides no other
		}
		if e := st.UndoTarget(worktree); e != nil && (last == nil || e.Time.After(last.Time)) {
			last = e
		}
	}
	if last == nil {
		return s.chooseSession(ctx, request)
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
	e := &Error{Kind: KindNotFound, Err: err}
	for _, c := range st.UndoCandidates() {
		e.Hints = append(e.Hints, fmt.Sprintf("%s in worktree %s: `git checkpoint rollback %s`", c.Subject(), c.Worktree, c.From))
	}
	return e
}

func (r *Rollback) think(ctx context.Context) error {
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
	if r.record, written, err = r.s.contents(ctx, r.files); err != nil {
		return err
	}
	if err := r.refuseWithoutFiles(); err != nil {
		return err
	}
	r.goal = r.record
	if r.to.entry != nil && r.to.entry != r.files && !r.to.entry.Dead {
		if r.goal, _, _, err = r.s.readRecord(ctx, r.to.entry); err != nil {
			return damaged(r.to.entry, err)
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
func (r *Rollback) refuseWithoutFiles() error {
	if r.record.Snapshot.Tree != "" || r.req.Mode == ModeState {
		return nil
	}
	return &Error{
		Kind: KindRefused, Message: r.files.Label + " was imported without files, so none can be brought back",
		Hints: []string{"--state-only goes back to its state and leaves the files as they are"},
	}
}

// modePaths is the mode of a rollback of some paths only.
const modePaths Mode = "paths"

// refuseUnfinished refuses to start a rollback while another one is not over.
func (s *Service) refuseUnfinished() error {
	dir, err := s.repo.Dir()
	if err != nil {
		return classify(err)
	}
	if snapshot.Moving(dir) {
		return classify(snapshot.ErrBusy)
	}
	return s.refuseHalf()
}

// refuseHalf refuses to record a worktree that holds half of a rollback, because the
// process that made the rollback is dead. A rollback that still runs is waited for by
// whoever captures.
func (s *Service) refuseHalf() error {
	dir := filepath.Join(s.repo.GitDir, "checkpoint")
	if in, err := snapshot.ReadIntent(dir); in == nil && err == nil || snapshot.Moving(dir) {
		return nil
	}
	in, err := snapshot.ReadIntent(dir) // again: its process may have finished between the two
	if err != nil || in == nil {
		return classify(err)
	}
	return &Error{
		Kind: KindRefused, Message: "a rollback in this worktree was cut off",
		Hints: []string{"`git checkpoint rollback --continue` finishes it", "`git checkpoint rollback --abort` takes it back"},
	}
}

// refuseEarly holds back what cannot be done in this state of the worktree.
func (r *Rollback) refuseEarly() error {
	if err := r.s.refuseUnfinished(); err != nil {
		return err
	}
	if op := r.s.repo.Operation(); op != "" && !r.req.Force && r.req.Mode != ModeState {
		end := "git " + op + " --abort"
		if op == "bisect" {
			end = "git bisect reset"
		}
		e := &Error{Kind: KindRefused, Message: "a " + op + " is in progress in this worktree", Hints: []string{"`" + end + "` ends it"}}
		if r.undoes == nil {
			e.Hints = append(e.Hints, "--force restores files only and leaves it in progress")
		}
		return e
	}
	return nil
}
