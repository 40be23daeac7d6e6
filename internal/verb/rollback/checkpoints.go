package rollback

import (
	"context"
	"encoding/json"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/create"
)

// makeSafety makes the safety checkpoint of a capture of the worktree as it is.
func (r *Plan) makeSafety(ctx context.Context, req create.SafetyRequest) (*record.Record, error) {
	req.Session, req.Definition, req.Aside = r.To.Session, r.def, r.branch.aside
	if req.Message = r.Before; r.Branch != nil && r.Branch.Moved {
		req.Landed = r.Branch.To
	}
	if err := r.leaveUnignored(ctx, req.Capture); err != nil {
		return nil, err
	}
	return create.Safety(ctx, r.s, req)
}

// leaveUnignored takes files out of a capture that were ignored at the last checkpoint and are not any
// more, as a hook leaves them out: nobody asked for a checkpoint of them. Those that the move replaces or
// deletes stay in it and are named, because it would lose them otherwise.
func (r *Plan) leaveUnignored(ctx context.Context, c *snapshot.Capture) error {
	moved := map[string]bool{}
	if r.plan != nil {
		for _, o := range r.plan.Ops {
			moved[o.Path] = true
		}
	}
	var leave, keep []string
	for _, p := range c.Unignored {
		// A file that the target has, too, would look as if the move had written it.
		if _, has, err := r.s.Repo.Trees.Lookup(ctx, r.record.Snapshot.Tree, p); err != nil {
			return err
		} else if moved[p] {
			keep = append(keep, p)
		} else if !has {
			leave = append(leave, p)
		}
	}
	for _, said := range create.SayUnignored(keep) {
		r.s.Store.Warn(said)
	}
	worktree, err := r.s.Worktree()
	if err == nil && len(leave) > 0 {
		err = worktree.LeaveOut(ctx, c, leave)
	}
	return err
}

// makeThen makes the checkpoint that a move is to make, if any. The error is an *unmadeError.
func makeThen(ctx context.Context, s *checkpoint.Service, meta checkpoint.Intent, answer *Answer) error {
	if len(meta.Then) == 0 {
		return nil
	}
	var request create.Request
	err := json.Unmarshal(meta.Then, &request)
	if err == nil {
		request.Moving = true
		// The context may be cancelled by now, and half a promotion must not stay.
		answer.Created, err = create.Checkpoint(context.WithoutCancel(ctx), s, request)
	}
	if err != nil {
		return &unmadeError{err}
	}
	return nil
}

// makeThenAgain is makeThen for a promotion whose event was written before it was cut off. Its checkpoint may
// have been made. st is the session's state.
func makeThenAgain(ctx context.Context, s *checkpoint.Service, st *journal.State, meta checkpoint.Intent, answer *Answer) error {
	var request create.Request
	if len(meta.Then) == 0 || json.Unmarshal(meta.Then, &request) != nil {
		return nil
	}
	for e := range st.LineTo(st.CurrentEntry()) {
		if e.Checkpoint == meta.Event.From {
			break
		}
		if made := e.Event(); made.Trigger == request.Trigger && made.Previous == meta.Event.From {
			return nil
		}
	}
	return makeThen(ctx, s, meta, answer)
}

// unmadeError says that a promotion was carried out except for its checkpoint.
type unmadeError struct{ error }

// Unwrap returns why the checkpoint could not be made.
func (e *unmadeError) Unwrap() error { return e.error }
