package rollback

// This file plans moves that are not rollbacks but work like one: promoting an attempt brings its files
// into a session, landing moves the branch to commits made from checkpoints, and package revert takes
// back what some steps did.

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/threeway"
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

	// Then is the checkpoint that is made when the files are there; nil: none.
	Then *create.Request
	// Reverted says what Merge has decided, if this takes back steps; else nil.
	Reverted func() *Reverted

	branch *checkpoint.BranchPlan // for a landing: where the branch goes
}

// Promoted identifies what is promoted.
type Promoted struct {
	Attempt string       `json:"attempt"` // name of the attempt
	Session name.Session `json:"session"`
	ID      name.ID      `json:"id"`
	Label   string       `json:"label"`
}

// PrepareLanding plans to move HEAD's branch to commits that were made from checkpoints. No file
// changes; the function merge returns the new index.
func PrepareLanding(ctx context.Context, s *checkpoint.Service, at *checkpoint.Found, branch checkpoint.BranchPlan, merge func(context.Context, *snapshot.Capture, snapshot.Target) (snapshot.Target, error), reason string) (*Plan, error) {
	return plan(ctx, target{
		s: s, req: Request{Mode: ModeAll, Branch: BranchMove, Reason: reason}, to: at, files: at.Entry,
		promote: &Promotion{Into: at, Files: at, What: Promoted{Session: at.Session, ID: at.Entry.Checkpoint, Label: at.Entry.Label}, Merge: merge, branch: &branch},
	})
}

// leave notes that paths stay as they are, because a rule keeps them from being touched.
func (r *Reverted) leave(paths []checkpoint.Path) {
	for i, f := range r.Files {
		if slices.Contains(paths, f.Path) && f.How != threeway.Conflict {
			r.Files[i].How = threeway.Same
		}
	}
}

// then makes the checkpoint that records a promotion. If that fails, the files are restored by an undo.
func then(ctx context.Context, s *checkpoint.Service, request *create.Request, done *Answer) error {
	// The context may be cancelled by now, and half a promotion must not stay.
	ctx = context.WithoutCancel(ctx)
	var err error
	if done.Created, err = create.Checkpoint(ctx, s, *request); err == nil {
		return nil
	}
	undo, undoErr := PrepareUndo(ctx, s, UndoRequest{})
	if undoErr == nil {
		_, undoErr = undo.Apply(ctx)
	}
	return errors.Join(err, undoErr)
}

// thenAgain is then for a promotion that was cut off before it could make its checkpoint. What it
// brought stays if the checkpoint cannot be made.
func thenAgain(ctx context.Context, s *checkpoint.Service, meta checkpoint.Intent, answer *Answer) error {
	if len(meta.Then) == 0 {
		return nil
	}
	var request create.Request
	err := json.Unmarshal(meta.Then, &request)
	if err == nil {
		answer.Created, err = create.Checkpoint(ctx, s, request)
	}
	return err
}

// PreparePromotion plans a promotion, as Prepare plans a rollback.
func PreparePromotion(ctx context.Context, s *checkpoint.Service, p Promotion, req Request) (*Plan, error) {
	req.Branch = BranchKeep
	return plan(ctx, target{s: s, req: req, to: p.Into, files: p.Files.Entry, promote: &p})
}
