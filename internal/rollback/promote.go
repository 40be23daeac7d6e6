package rollback

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/snapshot"
)

// ModePromote is the mode of the event of a promotion. An undo of it brings back everything.
const ModePromote = "promote"

// ModeLand is the mode of the event of a landing.
const ModeLand = "land"

// Promotion brings the files of another session's checkpoint. The session stays where it
// is: the checkpoint that is made afterwards is the step.
type Promotion struct {
	Into  *checkpoint.Found // the session, at its current checkpoint
	Files *checkpoint.Found
	What  Promoted
	// Merge makes another target of what is there and what comes; nil: what comes replaces it.
	Merge func(ctx context.Context, now *snapshot.Capture, t snapshot.Target) (snapshot.Target, error)

	branch *checkpoint.BranchPlan // of a landing: where the branch goes
}

// Promoted names what is promoted.
type Promoted struct {
	Attempt string       `json:"attempt"`
	Session name.Session `json:"session"`
	ID      name.ID      `json:"id"`
	Label   string       `json:"label"`
}

// PrepareLanding thinks through a move of HEAD's branch to commits that were made of
// checkpoints. No file moves; the index gets what target makes of it.
func PrepareLanding(ctx context.Context, s *checkpoint.Service, at *checkpoint.Found, branch checkpoint.BranchPlan, target func(context.Context, *snapshot.Capture, snapshot.Target) (snapshot.Target, error), reason string) (*Plan, error) {
	r := &Plan{
		s: s, req: Request{Mode: ModeAll, Branch: BranchMove, Reason: reason}, to: at, files: at.Entry,
		promote: &Promotion{Into: at, Files: at, What: Promoted{Session: at.Session, ID: at.Entry.Checkpoint, Label: at.Entry.Label}, Merge: target, branch: &branch},
	}
	return r, r.think(ctx)
}

// PreparePromotion thinks a promotion through, as Prepare does a rollback.
func PreparePromotion(ctx context.Context, s *checkpoint.Service, p Promotion, req Request) (*Plan, error) {
	req.Branch = BranchKeep
	var r *Plan
	think := func() error {
		r = &Plan{s: s, req: req, to: p.Into, files: p.Files.Entry, promote: &p}
		return r.think(ctx)
	}
	var err error
	if req.DryRun {
		err = s.RetryBorrowed(think)
	} else {
		err = think()
	}
	return r, err
}
