package rollback

// This file carries a plan out, and finishes or reverts a rollback that was killed half-way. The
// intent file is the state that they share: it exists from Restore.Begin until Restore.Finish. The
// checkpoint of a promotion is made in between.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/lfs"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/continuation"
	"git-checkpoint/internal/verb/create"
)

// staleAfter is the age of a plan, for example while the user reads it, after which Apply makes it
// again to check that it still does the same. How long it took to make the plan does not count: Apply
// checks each file that it moves.
const staleAfter = time.Second

// Apply carries the plan out: it makes the safety checkpoint, moves files, index and branch, and
// writes the event. If a step fails, those before it are reverted. The package comment has the
// order of the steps. The answer is that of the plan, completed.
func (r *Plan) Apply(ctx context.Context) (_ *Answer, err error) {
	if r.plan != nil && time.Since(r.ready) > staleAfter {
		if r, err = r.lookAgain(ctx); err != nil {
			return nil, err
		}
	}
	done := *r.answer
	if r.conversation != nil {
		if r.prepared, err = r.conversation.Prepare(ctx, r.s); err != nil {
			return nil, err
		}
		defer func() { r.goOn(ctx, &done, err) }()
	}
	switch {
	case len(r.transactions) > 1:
		err = r.applyEach(ctx, &done)
	case r.plan == nil:
		err = r.applyState(ctx, &done)
	default:
		err = r.applyFiles(ctx, &done)
	}
	if unmade, is := errors.AsType[*unmadeError](err); is { // an undo restores the files; half a promotion must not stay
		err = unmade.error
		undo, failed := PrepareUndo(context.WithoutCancel(ctx), r.s, UndoRequest{})
		if failed == nil {
			_, failed = undo.Apply(context.WithoutCancel(ctx))
		}
		err = errors.Join(err, failed)
	}
	if err != nil {
		return nil, err
	}
	if len(r.levels) > 0 {
		if done.NextUndo, done.NextRedo, err = Next(ctx, r.s.Store); err != nil { // it is done all the same
			r.s.Store.Warn(err.Error())
		}
		// The conversation that stayed goes on in its session, unless a person has chosen another one.
		if active, err := r.s.Store.ActiveSession(); done.Chat != nil && err == nil && !checkpoint.IsChosen(r.s.Repo, active) {
			if err := checkpoint.Adopt(r.s, r.To.Session); err != nil {
				return &done, err
			}
		}
	}
	done.Said = r.customMessage("rolled_back", &done)
	return &done, nil
}

// applyFiles carries out a plan that moves files.
func (r *Plan) applyFiles(ctx context.Context, done *Answer) error {
	r.s.Trace("planned")
	shot, err := r.s.Worktree()
	if err != nil {
		return err
	}
	// Keep the exact bytes of the files that will be deleted, so that an undo restores them
	// exactly.
	modes, err := shot.Secure(ctx, r.plan)
	if err != nil {
		return err
	}
	r.s.Trace("secured")
	// Stage takes the lock of the index and writes the new files beside the old ones.
	staged, err := shot.Stage(ctx, r.plan)
	if err != nil {
		return r.notStaged(err)
	}
	r.s.Trace("staged")
	done.Plan.Write = create.ToPaths(r.plan.Paths(snapshot.OpWrite)) // Stage finds those whose bytes stay
	meta, err := r.begin(ctx, staged, modes)
	if err != nil {
		staged.Cancel()
		return err
	}
	return r.failed(done, finish(ctx, r.s, staged, meta, done))
}

// notStaged returns the error for new content that could not be written, with the command that brings
// files of git-lfs whose content is not here.
func (r *target) notStaged(err error) error {
	filter, is := errors.AsType[*snapshot.FilterError](err)
	if !is || len(filter.Gone) == 0 {
		return err
	}
	remote, set := r.s.Settings.Get("checkpoint.remote")
	if !set {
		remote = "origin"
	}
	return &checkpoint.Error{Kind: checkpoint.KindFailed, Err: err, Hints: []string{
		fmt.Sprintf("the content of %s is not here; this brings it: git lfs fetch %s %s", lfs.Count(filter.Gone), name.Quoted(remote), r.Files.Event().Commit),
	}}
}

// begin makes the safety checkpoint and writes the intent file. From here on a killed rollback is
// finished by --continue or reverted by --abort.
func (r *Plan) begin(ctx context.Context, staged *snapshot.Restore, modes map[string]fs.FileMode) (meta checkpoint.Intent, err error) {
	if r.branch.Moved || r.plan.Index != nil {
		if err := r.sameHead(ctx); err != nil {
			return meta, err
		}
	}
	made, err := r.made(ctx)
	if err != nil {
		return meta, err
	}
	restored, err := r.changed(ctx)
	if err != nil {
		return meta, err
	}
	safety, err := r.makeSafety(ctx, create.SafetyRequest{Capture: r.cur, Modes: modes, Made: made, Restored: restored})
	if err != nil {
		return meta, err
	}
	r.s.Trace("safety")
	defer r.s.Trace("begun")
	if meta, err = r.meta(ctx, safety); err != nil {
		return meta, err
	}
	meta.Chat = r.prepared.Note()
	data, err := json.Marshal(meta)
	if err != nil {
		return meta, err
	}
	return meta, staged.Begin(data)
}

// finish carries out a restore that has begun: files and index, then HEAD, then the event. On
// failure it goes back. The event is last, because with the event in the journal the rollback
// counts as done. It completes the answer.
func finish(ctx context.Context, s *checkpoint.Service, staged *snapshot.Restore, meta checkpoint.Intent, answer *Answer) error {
	err := staged.Apply(ctx)
	if err == nil && meta.Branch.Moved {
		err = moveHead(ctx, s.Repo, meta)
	}
	s.Trace("head")
	if b := meta.Branch.Back; err == nil && b != nil {
		if err := moveAside(ctx, s.Repo, b.Name, b.From, b.To); err != nil { // somebody has moved it since
			s.Store.Warn(fmt.Sprintf("branch %s stays where it is: %v", b.Name.Short(), err))
		}
	}
	if err == nil {
		answer.From, err = recordMove(ctx, s.Store, meta)
	}
	s.Trace("event")
	if err == nil {
		// The event is written, so the rollback is done even if cleaning up fails.
		answer.DryRun, answer.Safety = false, meta.Safety
		// The intent file is removed last: until then --continue makes the checkpoint of a
		// promotion.
		err = makeThen(ctx, s, meta, answer)
		s.Trace("then")
		err = errors.Join(err, staged.Finish(ctx))
		s.Trace("finished")
		return err
	}
	return goBack(context.WithoutCancel(ctx), s.Store, staged, meta, err)
}

// goBack restores the state before the rollback, and returns an error that says what state the
// worktree is in. A cancelled context must not stop it, so the caller removes the cancellation.
func goBack(ctx context.Context, s *store.Store, staged *snapshot.Restore, meta checkpoint.Intent, cause error) error {
	backErr := errors.Join(staged.GoBack(), headBack(ctx, s, meta))
	if backErr == nil {
		backErr = follow(ctx, s.Repo, staged, meta)
	}
	// The intent file stays if going back failed, so that --abort can try again.
	if backErr == nil {
		backErr = staged.Finish(ctx)
	}
	kind := checkpoint.KindOf(cause)
	// An interrupt and a refusal keep their exit codes.
	if kind != checkpoint.KindInterrupt && kind != checkpoint.KindRefused {
		kind = checkpoint.KindFailed
	}
	if backErr == nil {
		return &checkpoint.Error{
			Kind: kind, Message: "the rollback failed halfway; files, index and branch are as they were before", Err: cause,
			Hints: append(lockHints(cause), fmt.Sprintf("the safety checkpoint %s holds them, too", meta.Safety)),
		}
	}
	return &checkpoint.Error{
		Kind: checkpoint.KindFailed, Message: "the rollback failed halfway, and not everything could be restored", Err: errors.Join(cause, backErr),
		Hints: append(lockHints(backErr),
			"`git checkpoint rollback --abort` tries again to go back, `--continue` to finish",
			fmt.Sprintf("everything is kept in %s", name.CheckpointRef(meta.Session, meta.Safety)),
		),
	}
}

// follow has the index that was put back follow HEAD, if somebody has moved it. Where HEAD cannot be read
// the index stays as it was.
func follow(ctx context.Context, repo *git.Repo, staged *snapshot.Restore, meta checkpoint.Intent) error {
	now := repo.Checkout.HeadNow(ctx)
	if now == (git.Head{}) {
		return nil
	}
	return staged.Follow(ctx, meta.OldHead, now.OID)
}

// lockHints returns what to do about a lock file of git that is in the way.
func lockHints(err error) []string {
	if lock := git.HeldLock(err); lock != "" {
		return []string{fmt.Sprintf("wait for the other git process; if none is running, remove %q", lock)}
	}
	return nil
}

// meta prepares the event and everything else that --continue and --abort need. The event's lists
// are computed when it is written.
func (r *Plan) meta(ctx context.Context, safety *record.Record) (checkpoint.Intent, error) {
	kind := journal.KindRollback
	if len(r.levels) > 0 {
		kind = journal.KindUndo
	}
	e, err := checkpoint.NewEvent(r.s.Store, kind, r.To.Session)
	if err != nil {
		return checkpoint.Intent{}, err
	}
	e.To, e.ToLabel = r.answer.To, r.answer.ToLabel
	e.From, e.FromLabel = originOf(r.To.State, r.stays())
	e.Mode, e.Reason = string(cmp.Or(r.Mode, r.req.Mode)), r.req.Reason
	lists := r.lists
	if lists.Walk == nil {
		if lists, err = readLists(ctx, r.s.Store); err != nil {
			return checkpoint.Intent{}, err
		}
	}
	// The undo list of a worktree is sorted by time, over all sessions. A clock that was set back
	// must not change that order.
	e.Time = lists.TimeAfter(e.Time)
	m := checkpoint.Intent{
		Session: r.To.Session, To: r.answer.To, StartedAt: e.Time, Branch: r.branch.BranchPlan,
		OldBranch: r.s.Repo.Head.Branch, OldHead: r.s.Repo.Head.OID,
		Reason: fmt.Sprintf("%s to %s", kind, r.answer.ToLabel), Stays: r.stays(),
	}
	if safety != nil {
		e.Safety, m.Safety = safety.ID, safety.ID
	}
	if m.Branch.Moved {
		m.TargetOld = r.branch.was
		e.Branch = cmp.Or(string(m.Branch.Target), "HEAD")
	}
	if r.Named {
		e.Files = r.Files.Checkpoint
	}
	if len(r.levels) > 0 {
		e.Undoes = r.levels[0].Head.OID
		m.Levels, err = r.undone(ctx, e.Safety, e.Branch)
	}
	m.Event = e
	if r.Then != nil && err == nil {
		m.Then, err = json.Marshal(r.Then)
	}
	return m, err
}

// originOf returns where a move begins: where the worktree stands, if anywhere. One that stays takes the
// newest of the session without a place.
func originOf(st *journal.State, stays bool) (name.ID, string) {
	at := st.Entry(st.Place)
	if stays {
		at = st.CurrentEntry()
	}
	if at == nil {
		return "", ""
	}
	return at.Checkpoint, at.Label
}

// recordMove writes the events of a rollback or undo, and returns the checkpoint that was current
// before. That one and the lists of discarded and restored checkpoints are computed inside the
// transaction, because somebody may have changed the session since the plan was made.
func recordMove(ctx context.Context, s *store.Store, meta checkpoint.Intent) (was name.ID, err error) {
	res, err := s.Transact(ctx, meta.Session, func(_ context.Context, v store.View) (store.Change, error) {
		if v.State == nil {
			return store.Change{}, fmt.Errorf("session %q is gone", meta.Session)
		}
		e := meta.Event
		if e.From, e.FromLabel = originOf(v.State, meta.Stays); meta.Stays && e.From != "" {
			e.To, e.ToLabel = e.From, e.FromLabel
		}
		events := []journal.Event{e}
		var err error
		switch {
		case meta.Stays: // a promotion discards nothing
		case len(meta.Levels) > 0:
			events, err = undoEvents(v.State, e, meta.Levels)
		default:
			_, events[0].Discard, events[0].Restore, err = v.State.RollbackPlan(cmp.Or(e.Files, e.To))
		}
		if err != nil {
			return store.Change{}, err
		}
		was = events[0].From
		return store.Change{Events: events}, nil
	})
	for _, w := range res.Warnings {
		s.Warn(w)
	}
	return was, err
}

// applyState makes another checkpoint current and moves no file. The worktree is captured anyway:
// the safety checkpoint keeps the state of the job for an undo.
func (r *Plan) applyState(ctx context.Context, done *Answer) error {
	cur, err := captureNow(ctx, r.s, r.To.Session, nil)
	if err != nil {
		return err
	}
	safety, err := r.makeSafety(ctx, create.SafetyRequest{Capture: cur})
	if err != nil {
		return err
	}
	meta, err := r.meta(ctx, safety)
	if err == nil {
		done.From, err = recordMove(ctx, r.s.Store, meta)
	}
	done.DryRun, done.Safety = false, meta.Safety
	if err != nil {
		return err
	}
	return makeThen(ctx, r.s, meta, done)
}

// Continue finishes a rollback whose process was killed. If the event was written before, only the
// intent file has to go.
func Continue(ctx context.Context, s *checkpoint.Service) (*Answer, error) {
	staged, meta, st, err := unfinished(ctx, s)
	if err != nil {
		return nil, err
	}
	answer := &Answer{Session: meta.Session, From: meta.Event.From, To: meta.To, ToLabel: meta.Event.ToLabel, Mode: Mode(meta.Event.Mode), Branch: meta.Branch, Pending: json.RawMessage("[]")}
	answer.Plan = changes(staged.PathsTo)
	answer.finished(ctx, s.Store, st, meta.Event)
	if e := st.Entry(meta.To); e != nil {
		answer.Target = checkpoint.Mentioned(ctx, s.Store, st, e)
		if rec, err := checkpoint.ReadRecord(ctx, s.Store, e); err == nil {
			answer.State = rec.State
		}
	}
	if isWritten(st, meta) {
		answer.Safety = meta.Safety
		err = errors.Join(makeThenAgain(ctx, s, st, meta, answer), staged.Finish(ctx))
	} else if err = goForward(ctx, s, staged, meta, answer); err == nil {
		st, err = checkpoint.State(ctx, s.Store, meta.Session)
	}
	if err != nil {
		return nil, err
	}
	answer.Plan.Discard, answer.Chat = discardedSince(st, meta.Safety), continuationAnswer(s.Store, continuation.ReadNote(s.Repo, meta.Chat))
	return answer, nil
}

// goForward carries out what is left of a rollback, unless HEAD or a branch has moved since in another way.
func goForward(ctx context.Context, s *checkpoint.Service, staged *snapshot.Restore, meta checkpoint.Intent, answer *Answer) (err error) {
	if meta.Branch.Moved {
		ref, old := moved(meta)
		if now := refNow(ctx, s.Repo, ref); now != meta.Branch.To && now != old {
			what := "HEAD"
			if meta.Branch.Target != "" {
				what = "branch " + meta.Branch.Target.Short()
			}
			hint := "`git checkpoint rollback --abort` restores the files and leaves the branch there"
			return checkpoint.Failure(checkpoint.KindRefused, hint, "%s has moved to %s since the rollback was cut off, and finishing it would lose that", what, now.Short())
		}
	}
	if err := indexFits(ctx, s.Repo, staged, meta); err != nil {
		return err
	}
	// The worktree may be a copy of the one where the rollback began. It has an id of its own then,
	// and its undo finds only events with that.
	if meta.Event.WorktreeID, err = s.Store.WorktreeID(); err != nil {
		return err
	}
	return finish(ctx, s, staged, meta, answer)
}

// isWritten reports whether the process was killed after it had written the event.
func isWritten(st *journal.State, meta checkpoint.Intent) bool {
	return slices.ContainsFunc(st.Rollbacks, func(e *journal.Event) bool { return e.Safety == meta.Safety })
}

// discardedSince returns the labels of what the event with this safety checkpoint and the later
// ones discarded: an undo of several levels writes several events, and only the first names it.
func discardedSince(st *journal.State, safety name.ID) []string {
	var labels []string
	from := slices.IndexFunc(st.Rollbacks, func(e *journal.Event) bool { return e.Safety == safety })
	events := st.Rollbacks[max(from, 0):]
	for i, now := range st.Standings() {
		if e := st.At(i); now.Discarded && slices.Contains(events, st.DiscardedBy(e.Checkpoint)) {
			labels = append(labels, e.Label)
		}
	}
	return labels
}

// Abort reverts a rollback whose process was killed. If its event was written before, the rollback
// is complete and Abort refuses.
func Abort(ctx context.Context, s *checkpoint.Service) (*Answer, error) {
	staged, meta, st, err := unfinished(ctx, s)
	if err != nil {
		return nil, err
	}
	if isWritten(st, meta) {
		if err := errors.Join(makeThenAgain(ctx, s, st, meta, &Answer{}), staged.Finish(ctx)); err != nil {
			return nil, err
		}
		continuationAnswer(s.Store, continuation.ReadNote(s.Repo, meta.Chat))
		return nil, checkpoint.Failure(checkpoint.KindRefused, "`git checkpoint undo` takes it back", "that rollback is already complete")
	}
	plan := changes(staged.PathsBack)
	failed := func(message string, err error, hints ...string) error {
		return &checkpoint.Error{Kind: checkpoint.KindFailed, Message: message, Err: err, Hints: append(hints, "`git checkpoint rollback --abort` tries again")}
	}
	if err := staged.GoBack(); err != nil {
		return nil, checkpoint.WithHints(failed("not everything could be restored", err), func(hints []string) []string {
			return append(hints, fmt.Sprintf("everything is kept in %s", name.CheckpointRef(meta.Session, meta.Safety)))
		})
	}
	if err := headBack(ctx, s.Store, meta); err != nil {
		return nil, failed("the files are restored, but the branch is not", err, lockHints(err)...)
	}
	if err := follow(ctx, s.Repo, staged, meta); err != nil {
		return nil, failed("the files are restored, but the index is not", err, lockHints(err)...)
	}
	if err := staged.Finish(ctx); err != nil {
		return nil, err
	}
	dropped(ctx, s.Store, continuation.ReadNote(s.Repo, meta.Chat))
	return &Answer{Session: meta.Session, From: meta.To, To: meta.Event.From, ToLabel: meta.Event.FromLabel, Safety: meta.Safety, Mode: ModeAbort, Plan: plan, Pending: json.RawMessage("[]")}, nil
}
