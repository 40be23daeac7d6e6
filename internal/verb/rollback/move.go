package rollback

import (
	"context"
	"encoding/json"
	"errors"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/create"
)

// ModePromote is the mode in the event of a promotion or a revert. An undo of it restores everything, like
// ModeAll.
const ModePromote Mode = "promote"

// ModeLand is the mode in the event of a landing, which turns checkpoints into commits on the
// branch. It writes no file, so an undo of it leaves the files as they are, with what was edited
// since, and restores the index, HEAD and the branch.
const ModeLand Mode = checkpoint.ModeLand

// PrepareMove plans a move, as Prepare plans a rollback.
func PrepareMove(ctx context.Context, s *checkpoint.Service, m Move, req Request) (*Plan, error) {
	req.Branch = BranchKeep
	return plan(ctx, target{s: s, req: req, Move: m})
}

// Promoted identifies what is promoted.
type Promoted struct {
	Attempt string       `json:"attempt"` // name of the attempt
	Session name.Session `json:"session"`
	ID      name.ID      `json:"id"`
	Label   string       `json:"label"`

	Mention checkpoint.Mention `json:"-"`
}

// then makes the checkpoint that a move is to make, if any. The error is an *unmadeError.
func then(ctx context.Context, s *checkpoint.Service, meta checkpoint.Intent, answer *Answer) error {
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

// thenAgain is then for a promotion whose event was written before it was cut off. Its checkpoint may
// have been made. st is the session's state.
func thenAgain(ctx context.Context, s *checkpoint.Service, st *journal.State, meta checkpoint.Intent, answer *Answer) error {
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
	return then(ctx, s, meta, answer)
}

// unmadeError says that a promotion was carried out except for its checkpoint.
type unmadeError struct{ error }

// Unwrap returns why the checkpoint could not be made.
func (e *unmadeError) Unwrap() error { return e.error }

// takeBack restores the files by an undo.
func (e *unmadeError) takeBack(ctx context.Context, s *checkpoint.Service) error {
	ctx = context.WithoutCancel(ctx)
	undo, err := PrepareUndo(ctx, s, UndoRequest{})
	if err == nil {
		_, err = undo.Apply(ctx)
	}
	return errors.Join(e.error, err)
}
