package rollback

import (
	"context"
	"errors"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/create"
)

// unfinished opens the killed rollback of this worktree. It first makes a safety checkpoint of the
// worktree as it is now, because the user may have gone on working in it. The state is that of the
// session before this checkpoint.
func unfinished(ctx context.Context, s *checkpoint.Service) (_ *snapshot.Restore, meta checkpoint.Intent, _ *journal.State, err error) {
	shot, err := s.Worktree()
	if err != nil {
		return nil, meta, nil, err
	}
	staged, err := shot.Unfinished()
	if err != nil {
		return nil, meta, nil, err
	}
	if staged == nil {
		return nil, meta, nil, nothingUnfinished(shot)
	}
	if meta, err = checkpoint.ReadIntent(staged.Meta()); err != nil {
		return nil, meta, nil, err
	}
	st, err := checkpoint.State(ctx, s.Store, meta.Session)
	if err != nil {
		return nil, meta, nil, err
	}
	// Also what is ignored or excluded by now: it is moved again.
	cur, err := captureNow(ctx, s, meta.Session, staged.Paths(), staged.Paths()...)
	if err != nil {
		return nil, meta, nil, err
	}
	if err := refuseSkipped(cur, staged.Paths()); err != nil {
		return nil, meta, nil, err
	}
	if err := staged.LockDatabases(); err != nil {
		return nil, meta, nil, whole(err)
	}
	def, err := s.Rules.ReadableDefinition(ctx, st)
	if err != nil {
		return nil, meta, nil, err
	}
	message := "before the " + meta.Reason
	if e := st.Entry(meta.Safety); e != nil { // its own safety checkpoint says more
		if r, err := checkpoint.ReadRecord(ctx, s.Store, e); err == nil {
			message = r.Message
		}
	}
	if _, err := create.Safety(ctx, s, create.SafetyRequest{Session: meta.Session, Definition: def, Capture: cur, Message: message + ", half-way"}); err != nil {
		return nil, meta, nil, err
	}
	return staged, meta, st, nil
}

// whole returns the error of a command that takes no paths, so that no open database can be left as it is.
func whole(err error) error {
	if used, is := errors.AsType[*snapshot.InUseError](err); is {
		used.Whole = true
	}
	return err
}

// refuseSkipped returns an error if something is at one of the paths that the capture left out, such
// as a file that cannot be read. It was made after the kill, is in no checkpoint, and would be lost.
func refuseSkipped(cur *snapshot.Capture, paths []string) error {
	e := &checkpoint.Error{Kind: checkpoint.KindRefused, Message: "nothing was changed: files in the way are in no checkpoint, and would be lost"}
	for _, s := range cur.Skipped {
		if slices.Contains(paths, s.Path) {
			e.Hints = append(e.Hints, s.Path+" ("+s.Reason+")")
		}
	}
	if len(e.Hints) == 0 {
		return nil
	}
	e.Hints = append(e.Hints, "move them out of the way, and run the command again")
	return e
}

// nothingUnfinished returns the answer to --continue and --abort when no file was moved. A rollback
// that was killed before that may have left the lock of the index, which the Sweep removes.
func nothingUnfinished(shot *snapshot.Worktree) error {
	e := &checkpoint.Error{Kind: checkpoint.KindNotFound, Message: "there is no unfinished rollback in this worktree"}
	left := shot.AbandonedLock() != ""
	if err := shot.Sweep(create.SweepAge); err != nil {
		return &checkpoint.Error{Kind: checkpoint.KindFailed, Err: err}
	}
	if left {
		e.Hints = []string{"a rollback that was killed before it changed a file left the lock of the index; the lock was removed"}
	}
	return e
}
