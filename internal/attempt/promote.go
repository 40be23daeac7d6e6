package attempt

import (
	"context"
	"errors"
	"fmt"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/rollback"
)

// PromoteRequest is what `promote` was asked for.
type PromoteRequest struct {
	Attempt          string
	Mode             rollback.Mode // ModeAll or ModeState
	Paths            []string
	How              MergeChoice
	Message          string
	Reason           string
	OverwriteIgnored bool
	DryRun           bool
}

// MergeChoice says what becomes of changes that were made here since the fork.
type MergeChoice int

// The choices.
const (
	MergeNot      MergeChoice = iota // the files of the attempt replace those here
	MergeClean                       // a three-way merge, refused where it has conflicts
	MergeConflict                    // likewise, and conflicts are written with their markers
)

// Promotion is a promotion, planned.
type Promotion struct {
	Plan *rollback.Plan

	s       *checkpoint.Service
	request create.Request
}

// Promoted is what a promotion did.
type Promoted struct {
	*rollback.Answer
	Created *checkpoint.Detail `json:"created"`
}

// PreparePromotion plans to bring the newest checkpoint of an attempt into the session that
// it was forked from. Nothing is changed.
func PreparePromotion(ctx context.Context, s *checkpoint.Service, req PromoteRequest) (*Promotion, error) {
	a, err := Find(ctx, s, req.Attempt)
	if err != nil {
		return nil, err
	}
	if err := promotable(s, a); err != nil {
		return nil, err
	}
	from, err := s.Resolve(ctx, string(a.Session), "@")
	if err != nil {
		return nil, err
	}
	into, err := s.Resolve(ctx, string(a.FromSession), "@")
	if err != nil {
		return nil, err
	}
	rec, _, _, err := s.ReadRecord(ctx, from.Entry)
	if err != nil {
		return nil, checkpoint.DamagedError(from.Entry, err)
	}
	warnUnsaved(ctx, s, a, rec)
	p := &Promotion{s: s, request: stepOf(a, from, rec, req)}
	if err := p.accepted(ctx, rec.Snapshot.Tree); err != nil {
		return nil, err
	}
	promotion := rollback.Promotion{
		Into: into, Files: from, What: rollback.Promoted{Attempt: a.Name, Session: from.Session, ID: rec.ID, Label: rec.Label},
	}
	if req.How != MergeNot {
		if promotion.Merge, err = merging(ctx, s, from, req.How); err != nil {
			return nil, err
		}
	}
	p.Plan, err = rollback.PreparePromotion(ctx, s, promotion, rollback.Request{
		Mode: req.Mode, Paths: req.Paths, OverwriteIgnored: req.OverwriteIgnored, Reason: reasonOf(a, rec, req), DryRun: req.DryRun,
	})
	return p, err
}

// promotable refuses what cannot be promoted from here.
func promotable(s *checkpoint.Service, a *Attempt) error {
	switch {
	case a.Unfinished:
		return &checkpoint.Error{Kind: checkpoint.KindRefused, Message: "the fork of " + a.Name + " was cut off", Hints: []string{"`git checkpoint fork --remove " + string(a.Session) + "` removes it"}}
	case a.Worktree == s.Repo.WorkTree:
		return &checkpoint.Error{
			Kind: checkpoint.KindRefused, Message: "this is the worktree of " + a.Name + ", and its files are here already",
			Hints: []string{fmt.Sprintf("run it in the worktree where session %s goes on", a.FromSession)},
		}
	}
	return nil
}

func reasonOf(a *Attempt, rec *record.Record, req PromoteRequest) string {
	if req.Reason != "" {
		return req.Reason
	}
	return fmt.Sprintf("promote %s: %s of session %s", a.Name, rec.Label, a.Session)
}

// stepOf is the checkpoint that the promotion makes: the attempt's step in this session.
func stepOf(a *Attempt, from *checkpoint.Found, rec *record.Record, req PromoteRequest) create.Request {
	r := create.Request{
		Session: string(a.FromSession), Trigger: triggerPromote, Message: req.Message, Promote: rec, Size: create.SizeLarge,
		IncludeIgnored: literal(inspect.IgnoredOf(rec)),
	}
	if r.Message == "" {
		r.Message = fmt.Sprintf("promote %s: %s of session %s", a.Name, rec.Label, from.Session)
		if rec.Message != "" {
			r.Message += "\n\n" + rec.Message
		}
	}
	if rec.Milestone {
		r.Step, r.Name = &rec.Step, rec.StepName
	}
	if req.Mode == rollback.ModeState {
		r.IncludeIgnored = nil
	}
	return r
}

const triggerPromote = "promote"

// accepted asks the workflow before a file moves.
func (p *Promotion) accepted(ctx context.Context, tree name.OID) error {
	try := p.request
	try.DryRun, try.Tree, try.IncludeIgnored = true, tree, nil
	_, err := create.Checkpoint(ctx, p.s, try)
	return err
}

// warnUnsaved says so when the attempt's worktree holds more than its newest checkpoint.
func warnUnsaved(ctx context.Context, s *checkpoint.Service, a *Attempt, rec *record.Record) {
	if a.Worktree == "" {
		return
	}
	in, err := checkpoint.OpenAt(ctx, s, a.Worktree)
	if err != nil {
		return // somebody removed it
	}
	defer in.Close() //nolint:errcheck // it was only read
	if tree, err := inspect.TreeNow(ctx, in, rec); err == nil && tree != rec.Snapshot.Tree {
		s.Warn(fmt.Sprintf("%s has changes since %s that are in no checkpoint, and do not come; `git -C %s checkpoint save` makes one", a.Name, rec.Label, a.Worktree))
	}
}

// Apply brings the files, then makes the checkpoint. Where that is refused the files go back.
func (p *Promotion) Apply(ctx context.Context) (*Promoted, error) {
	done, err := p.Plan.Apply(ctx)
	if err != nil {
		return nil, err
	}
	made, err := create.Checkpoint(context.WithoutCancel(ctx), p.s, p.request)
	if err == nil {
		return &Promoted{done, made}, nil
	}
	undo, undoErr := rollback.PrepareUndo(context.WithoutCancel(ctx), p.s, rollback.UndoRequest{})
	if undoErr == nil {
		_, undoErr = undo.Apply(context.WithoutCancel(ctx))
	}
	return nil, errors.Join(err, undoErr)
}
