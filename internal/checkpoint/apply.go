package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/snapshot"
	"git-checkpoint/internal/store"
	"git-checkpoint/internal/workflow"
)

// intentMeta is what a cut-off rollback needs to be finished or taken back.
type intentMeta struct {
	Session   name.Session
	Event     journal.Event // complete but for its lists
	Undoes    name.OID
	Safety    name.ID
	To        name.ID
	StartedAt time.Time
	Branch    BranchPlan
	OldBranch name.Ref
	OldHead   name.OID
	TargetOld name.OID // of the branch that moves; empty when it did not exist
	Reason    string
}

// staleAfter is how old a plan may get, as while a person thinks, before the
// worktree is captured anew to see whether it still fits.
const staleAfter = time.Second

// Apply does the rollback: a safety checkpoint first, then files, index, branch,
// and the event. When something fails half-way everything is taken back.
func (r *Rollback) Apply(ctx context.Context) (*RollbackAnswer, error) {
	if r.plan != nil && time.Since(r.taken) > staleAfter {
		tree := r.cur.Tree
		if err := r.take(ctx, r.forced); err != nil {
			return nil, err
		}
		if r.cur.Tree != tree {
			return nil, &Error{Kind: KindRefused, Message: "the worktree has changed since the plan was shown", Hints: []string{"nothing was changed; run it again to see the new plan"}}
		}
		r.plan.Cur = r.cur
	}
	if r.plan == nil {
		return r.applyState(ctx)
	}
	r.s.repo.ReadyRefs(ctx) // for the safety checkpoint
	r.s.trace("planned")
	shot, err := r.s.shots()
	if err != nil {
		return nil, err
	}
	modes, err := shot.Secure(ctx, r.plan)
	if err != nil {
		return nil, classify(err)
	}
	r.s.trace("secured")
	staged, err := shot.Stage(ctx, r.plan)
	if err != nil {
		return nil, classify(err)
	}
	r.s.trace("staged")
	made, err := r.made(ctx)
	var safety *creation
	if err == nil {
		safety, err = r.makeSafety(ctx, modes, made)
	}
	if err != nil {
		staged.Cancel()
		return nil, err
	}
	r.s.repo.ReadyRefs(ctx) // for the event
	r.s.trace("safety")
	meta, err := r.meta(ctx, safety)
	if err == nil {
		err = r.begin(staged, meta)
	}
	r.s.trace("begun")
	if err != nil {
		staged.Cancel()
		return nil, classify(err)
	}
	done, err := r.s.finish(ctx, staged, meta, r.answer)
	if err != nil {
		return nil, r.failed(err)
	}
	done.Said = r.said("rolled_back")
	return done, nil
}

func (r *Rollback) begin(staged *snapshot.Restore, meta intentMeta) error {
	data, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	staged.Trace = r.s.trace
	return staged.Begin(data)
}

// finish moves the files of a restore that has begun, then HEAD, then writes the
// event; on failure it goes back.
func (s *Service) finish(ctx context.Context, staged *snapshot.Restore, meta intentMeta, answer *RollbackAnswer) (*RollbackAnswer, error) {
	err := staged.Apply(ctx)
	if err == nil && meta.Branch.Moved {
		err = s.repo.MoveHead(ctx, git.HeadMove{Branch: meta.Branch.Target, To: meta.Branch.To, Reason: meta.Reason})
	}
	s.trace("head")
	if err == nil {
		s.takeBranchBack(ctx, meta.Branch.Back)
		err = s.recordMove(ctx, meta)
	}
	s.trace("event")
	if err == nil {
		answer.DryRun, answer.Safety = false, meta.Safety
		err = staged.Finish()
		s.trace("finished")
		return answer, classify(err)
	}
	return nil, s.goBack(context.WithoutCancel(ctx), staged, meta, err)
}

// goBack returns to what was there before, and says what state things are in.
func (s *Service) goBack(ctx context.Context, staged *snapshot.Restore, meta intentMeta, cause error) error {
	backErr := staged.Back()
	if meta.Branch.moves() {
		backErr = errors.Join(backErr, s.headBack(ctx, meta))
	}
	if backErr == nil {
		backErr = staged.Finish()
	}
	kind := KindOf(classify(cause))
	if kind != KindInterrupt && kind != KindRefused {
		kind = KindFailed
	}
	if backErr == nil {
		return &Error{
			Kind: kind, Message: "the rollback failed half-way; files, index and branch are as they were before", Err: cause,
			Hints: []string{fmt.Sprintf("the safety checkpoint %s holds them too", meta.Safety)},
		}
	}
	return &Error{
		Kind: KindFailed, Message: "the rollback failed half-way and not everything could be brought back", Err: errors.Join(cause, backErr),
		Hints: append(lockHints(backErr),
			"`git checkpoint rollback --abort` tries again to go back, `--continue` to go on",
			fmt.Sprintf("everything is kept in %s", name.CheckpointRef(meta.Session, meta.Safety)),
		),
	}
}

// lockHints says what to do about a lock of git's that is in the way.
func lockHints(err error) []string {
	if lock := git.HeldLock(err); lock != "" {
		return []string{fmt.Sprintf("wait for the other git process; if none is running, remove %q", lock)}
	}
	return nil
}

// headBack puts HEAD, and the branch that a rollback moved, where they were.
func (s *Service) headBack(ctx context.Context, meta intentMeta) error {
	if meta.TargetOld != "" {
		if _, err := s.repo.Output(ctx, "update-ref", "-m", "checkpoint: rollback taken back", string(meta.Branch.Target), string(meta.TargetOld)); err != nil {
			return err
		}
	}
	if b := meta.Branch.Back; b != nil {
		s.moveBranch(ctx, b.Name, b.To, b.From) //nolint:errcheck // whoever moved it since had a reason
	}
	if meta.OldHead == "" || s.headIs(ctx, meta.OldBranch, meta.OldHead) {
		return nil
	}
	return s.repo.MoveHead(ctx, git.HeadMove{Branch: meta.OldBranch, To: meta.OldHead, Reason: "rollback taken back"})
}

// headIs reports whether HEAD is on a branch, or on none, and at a commit.
func (s *Service) headIs(ctx context.Context, branch name.Ref, commit name.OID) bool {
	on, err := s.repo.Output(ctx, "symbolic-ref", "-q", "HEAD")
	if err != nil {
		on = "" // detached
	}
	at, err := s.repo.Output(ctx, "rev-parse", "-q", "--verify", "HEAD")
	return err == nil && on == string(branch) && at == string(commit)
}

// meta prepares the event.
func (r *Rollback) meta(ctx context.Context, safety *creation) (intentMeta, error) {
	kind := journal.KindRollback
	if r.undoes != nil {
		kind = journal.KindUndo
	}
	e, err := r.s.event(kind, r.to.session)
	if err != nil {
		return intentMeta{}, err
	}
	e.From, e.To, e.ToLabel = r.to.state.Current, r.answer.To, r.answer.ToLabel
	if from := r.to.state.CurrentEntry(); from != nil {
		e.FromLabel = from.Label
	}
	e.Mode, e.Reason = string(r.req.Mode), r.req.Reason
	m := intentMeta{
		Session: r.to.session, To: r.answer.To, StartedAt: e.Time, Branch: r.answer.Branch,
		OldBranch: r.s.repo.Head.Branch, OldHead: r.s.repo.Head.OID,
		Reason: fmt.Sprintf("%s to %s", kind, r.answer.ToLabel),
	}
	if safety != nil {
		e.Safety, m.Safety = safety.record.ID, safety.record.ID
	}
	if m.Branch.Moved && m.Branch.Target != "" {
		oid, err := r.s.repo.Batch().Resolve(ctx, m.Branch.Target)
		if err != nil && !errors.Is(err, git.ErrMissing) {
			return m, err
		}
		m.TargetOld = oid
	}
	if m.Branch.Moved {
		e.Branch = string(m.Branch.Target)
		if e.Branch == "" {
			e.Branch = "HEAD"
		}
	}
	if r.undoes != nil {
		e.Undoes, m.Undoes = r.undoes.OID, r.undoes.OID
	}
	m.Event = e
	return m, nil
}

// recordMove writes the event of a rollback or undo, with the lists worked out on
// the journal as it is then.
func (s *Service) recordMove(ctx context.Context, meta intentMeta) error {
	res, err := s.store.Transact(ctx, meta.Session, func(_ context.Context, v store.View) (store.Change, error) {
		if v.State == nil {
			return store.Change{}, fmt.Errorf("session %q is gone", meta.Session)
		}
		e := meta.Event
		var err error
		if e.Undoes == "" {
			e.Discard, e.Restore, err = v.State.RollbackPlan(e.To)
		} else {
			for _, u := range v.State.Rollbacks {
				if u.OID == e.Undoes {
					var p journal.Plan
					p, err = v.State.PlanUndoOf(u)
					e.Discard, e.Restore = p.Discard, p.Restore
				}
			}
		}
		change := store.Change{Events: []journal.Event{e}}
		if on, tagErr := s.where.bool("checkpoint.tag", true); tagErr == nil && !on {
			change.Tags = store.TagsNone
		}
		return change, err
	})
	for _, w := range res.Warnings {
		s.warn(w)
	}
	return err
}

// applyState moves the current checkpoint and no file.
func (r *Rollback) applyState(ctx context.Context) (*RollbackAnswer, error) {
	if err := r.take(ctx, nil); err != nil {
		return nil, err
	}
	safety, err := r.makeSafety(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	meta, err := r.meta(ctx, safety)
	if err == nil {
		err = r.s.recordMove(ctx, meta)
	}
	if err != nil {
		return nil, classify(err)
	}
	r.answer.DryRun, r.answer.Safety = false, meta.Safety
	r.answer.Said = r.said("rolled_back")
	return r.answer, nil
}

// makeSafety makes the safety checkpoint out of the capture that was planned with.
func (r *Rollback) makeSafety(ctx context.Context, modes map[string]fs.FileMode, made []madeFile) (*creation, error) {
	c := &creation{
		s: r.s, session: r.to.session, at: r.s.now(), head: r.s.repo.Head.OID, capture: r.cur, safety: true, aside: r.aside, made: made,
		req: CreateRequest{Trigger: workflow.TriggerSafety, Tag: TagNever, Message: "before the rollback to " + r.answer.ToLabel},
	}
	if r.undoes != nil {
		c.req.Message = "before the undo of the rollback to " + r.undoes.ToLabel
	}
	if len(modes) > 0 {
		c.modes = map[record.Path]string{}
		for p, m := range modes {
			c.modes[record.Path(p)] = fmt.Sprintf("%04o", m)
		}
	}
	var err error
	if c.def = r.def; c.def == nil { // the plan has asked, and warned, already
		if c.def, err = r.s.reading(ctx, r.to.state); err != nil {
			return nil, err
		}
	}
	if c.place, err = r.s.placeNow(ctx); err != nil {
		return nil, err
	}
	if _, err = r.s.store.Transact(ctx, c.session, c.build); err != nil {
		err = c.repair(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Continue finishes a rollback that was cut off.
func (s *Service) Continue(ctx context.Context) (*RollbackAnswer, error) {
	staged, meta, err := s.unfinished(ctx)
	if err != nil {
		return nil, err
	}
	st, err := s.state(ctx, meta.Session)
	if err != nil {
		return nil, err
	}
	answer := &RollbackAnswer{Session: meta.Session, From: meta.Event.From, To: meta.To, ToLabel: meta.Event.ToLabel, Mode: meta.Event.Mode, Branch: meta.Branch, Pending: json.RawMessage("[]")}
	if e := st.Entry(meta.To); e != nil {
		if rec, _, _, err := s.readRecord(ctx, e); err == nil {
			answer.State = rec.State
		}
	}
	for _, done := range st.Rollbacks {
		if done.Safety == meta.Safety { // killed between the event and the end
			answer.Safety = meta.Safety
			return answer, classify(staged.Finish())
		}
	}
	return s.finish(ctx, staged, meta, answer)
}

// Abort takes a rollback that was cut off back.
func (s *Service) Abort(ctx context.Context) (*RollbackAnswer, error) {
	staged, meta, err := s.unfinished(ctx)
	if err != nil {
		return nil, err
	}
	st, err := s.state(ctx, meta.Session)
	if err != nil {
		return nil, err
	}
	for _, done := range st.Rollbacks {
		if done.Safety == meta.Safety {
			if err := staged.Finish(); err != nil {
				return nil, classify(err)
			}
			return nil, &Error{Kind: KindRefused, Message: "that rollback was already complete", Hints: []string{"`git checkpoint undo` takes it back"}}
		}
	}
	if err := staged.Back(); err != nil {
		return nil, &Error{Kind: KindFailed, Message: "not everything could be brought back", Err: err, Hints: []string{fmt.Sprintf("everything is kept in %s", name.CheckpointRef(meta.Session, meta.Safety))}}
	}
	if meta.Branch.moves() {
		if err := s.headBack(ctx, meta); err != nil {
			return nil, &Error{Kind: KindFailed, Message: "the files are back, and the branch is not", Err: err, Hints: append(lockHints(err), "`git checkpoint rollback --abort` tries again")}
		}
	}
	if err := staged.Finish(); err != nil {
		return nil, classify(err)
	}
	return &RollbackAnswer{Session: meta.Session, From: meta.To, To: meta.Event.From, ToLabel: meta.Event.FromLabel, Safety: meta.Safety, Mode: "abort", Pending: json.RawMessage("[]")}, nil
}

// unfinished opens the rollback that was cut off. What is in the worktree now is
// captured first: somebody may have worked on since.
func (s *Service) unfinished(ctx context.Context) (*snapshot.Restore, intentMeta, error) {
	var meta intentMeta
	shot, err := s.shots()
	if err != nil {
		return nil, meta, err
	}
	staged, err := shot.Unfinished()
	if err != nil {
		return nil, meta, classify(err)
	}
	if staged == nil {
		return nil, meta, nothingUnfinished(shot)
	}
	staged.Trace = s.trace
	if meta, err = readMeta(staged.Meta()); err != nil {
		return nil, meta, err
	}
	st, err := s.state(ctx, meta.Session)
	if err != nil {
		return nil, meta, err
	}
	half := &Rollback{s: s, to: &found{session: meta.Session, state: st}, answer: &RollbackAnswer{ToLabel: meta.Event.ToLabel + ", half-way"}}
	if err := half.take(ctx, staged.Paths()); err != nil { // also what is ignored by now
		return nil, meta, err
	}
	if _, err := half.makeSafety(ctx, nil, nil); err != nil {
		return nil, meta, err
	}
	return staged, meta, nil
}

// nothingUnfinished answers --continue and --abort where no file has moved. A rollback that was
// killed before that may have left the lock of the index, which is removed.
func nothingUnfinished(shot *snapshot.Shot) error {
	e := &Error{Kind: KindNotFound, Message: "no rollback is unfinished in this worktree"}
	left := shot.AbandonedLock() != ""
	if err := shot.Sweep(sweepAge); err != nil {
		return &Error{Kind: KindFailed, Err: err}
	}
	if left {
		e.Hints = []string{"a rollback that was killed before it moved a file had left the lock of the index; the lock is removed"}
	}
	return e
}

func readMeta(data json.RawMessage) (meta intentMeta, err error) {
	if err := json.Unmarshal(data, &meta); err != nil {
		return meta, &Error{Kind: KindInvalid, Message: "the intent of the rollback is damaged", Err: err}
	}
	return meta, nil
}
