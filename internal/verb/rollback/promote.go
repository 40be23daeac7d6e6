package rollback

// This file plans two moves that are not rollbacks but work like one: promoting an attempt brings
// its files into a session, and landing moves the branch to commits made from checkpoints.

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/snapshot"
)

// ModePromote is the mode in the event of a promotion. An undo of it restores everything, like
// ModeAll.
const ModePromote Mode = "promote"

// ModeLand is the mode in the event of a landing, which turns checkpoints into commits on the
// branch. It writes no file, so an undo of it leaves the files as they are, with what was edited
// since, and restores the index, HEAD and the branch.
const ModeLand Mode = checkpoint.ModeLand

// Promotion restores the files of another session's checkpoint. The current checkpoint of the
// session stays, and nothing is discarded: the caller makes a new checkpoint afterwards.
type Promotion struct {
	Into  *checkpoint.Found // the session, at its current checkpoint
	Files *checkpoint.Found // the checkpoint whose files are restored
	What  Promoted
	// Merge combines what is there now with what is to be restored; nil: the latter replaces the
	// former.
	Merge func(ctx context.Context, now *snapshot.Capture, t snapshot.Target) (snapshot.Target, error)

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

// PreparePromotion plans a promotion, as Prepare plans a rollback.
func PreparePromotion(ctx context.Context, s *checkpoint.Service, p Promotion, req Request) (*Plan, error) {
	req.Branch = BranchKeep
	return plan(ctx, target{s: s, req: req, to: p.Into, files: p.Files.Entry, promote: &p})
}
