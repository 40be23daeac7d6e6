package rollback

// This file plans moves that are not rollbacks but work like one: promoting an attempt brings its files
// into a session, landing moves the branch to commits made from checkpoints, and package revert takes
// back what some steps did.

import (
	"context"
	"encoding/json"
	"errors"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/create"
)

// ModePromote is the mode in the event of a promotion. An undo of it restores everything, like
// ModeAll.
const ModePromote Mode = "promote"

// ModeLand is the mode in the event of a landing, which turns checkpoints into commits on the
// branch. It writes no file, so an undo of it leaves the files as they are, with what was edited
// since, and restores the index, HEAD and the branch.
const ModeLand Mode = checkpoint.ModeLand

// Promotion restores the files of another session's checkpoint. The current checkpoint of the
// session stays, and nothing is discarded: Then makes a new checkpoint afterwards.
type Promotion struct {
	Into  *checkpoint.Found // the session, at its current checkpoint
	Files *checkpoint.Found // the checkpoint whose files are restored
	What  Promoted
	// Merge combines what is there now with what is to be restored; nil: the latter replaces the
	// former.
	Merge func(ctx context.Context, now *snapshot.Capture, t snapshot.Target) (snapshot.Target, error)

	Then     *create.Request        // the checkpoint that is made when the files are there; nil: none
	Reverted func() *Reverted       // says what Merge has decided, if this takes back steps; else nil
	Branch   *checkpoint.BranchPlan // for a landing: where the branch goes
}

// Promoted identifies what is promoted.
type Promoted struct {
	Attempt string       `json:"attempt"` // name of the attempt
	Session name.Session `json:"session"`
	ID      name.ID      `json:"id"`
	Label   string       `json:"label"`

	Mention checkpoint.Mention `json:"-"`
}

// then makes the checkpoint that records a promotion, if this is one. The error is an *unmadeError.
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

// PreparePromotion plans a promotion, as Prepare plans a rollback. With a branch no file changes:
// Merge returns the new index, and the branch moves to commits made from checkpoints.
func PreparePromotion(ctx context.Context, s *checkpoint.Service, p Promotion, req Request) (*Plan, error) {
	req.Branch = BranchKeep
	return plan(ctx, target{s: s, req: req, to: p.Into, files: p.Files.Entry, promote: &p})
}
