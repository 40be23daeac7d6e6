package attempt

// A promotion is a rollback whose files come from another session, followed by a create in
// the session here. If the create fails, an undo of the rollback restores the files.

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/threeway"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/rollback"
)

// PromoteRequest holds the options of `promote`.
type PromoteRequest struct {
	Attempt          string
	Mode             rollback.Mode // rollback.ModeAll or rollback.ModeState
	Paths            []string      // limits the promotion to some files; empty: all
	How              MergeChoice
	Message          string
	Reason           string
	OverwriteIgnored bool
	DryRun           bool
}

// MergeChoice says how to treat changes that were made here since the fork.
type MergeChoice int

// The choices for such changes.
const (
	MergeNot   MergeChoice = iota // the files of the attempt replace those here
	MergeClean                    // merge, and refuse conflicts
	// Merge, and write conflicts with markers.
	MergeConflict
)

// PreparePromotion plans to bring the newest checkpoint of an attempt into the session from
// which it was forked. Nothing is changed.
func PreparePromotion(ctx context.Context, s *checkpoint.Service, req PromoteRequest) (*rollback.Plan, error) {
	a, err := Find(ctx, s.Store, req.Attempt)
	if checkpoint.KindOf(err) == checkpoint.KindNotFound && req.How != MergeNot {
		if line, failed := s.Sessions.Resolve(ctx, "", req.Attempt); failed == nil {
			return prepareJoin(ctx, s, line, req)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := promotable(s.Repo, a); err != nil {
		return nil, err
	}
	from, err := s.Sessions.Resolve(ctx, string(a.Session), "@")
	if err != nil {
		return nil, err
	}
	into, err := s.Sessions.Resolve(ctx, string(a.FromSession), "@")
	if err != nil {
		return nil, err
	}
	rec, err := checkpoint.ReadRecord(ctx, s.Store, from.Entry)
	if err != nil {
		return nil, checkpoint.DamagedError(from.Entry, err)
	}
	warnUnsaved(ctx, s, a, rec)
	title := fmt.Sprintf("promote %s: %s of session %s", a.Name, checkpoint.CalledOf(rec), a.Session)
	then := stepOf(a, into.State, rec, req, title)
	// The workflow is asked, with a dry run of the create, before any file is changed.
	if _, err := create.Checkpoint(ctx, s, then.Trying(rec.Snapshot.Tree)); err != nil {
		return nil, err
	}
	move := rollback.Move{To: into, Files: from.Entry, Then: &then}
	// Without a merge the files of the attempt replace those here, as in a rollback.
	if req.How != MergeNot {
		names := threeway.Names{Ours: string(into.Session), Base: "the fork", Theirs: string(from.Session)}
		if move.Merge, err = merging(ctx, s, from.State.At(0), names, req); err != nil {
			return nil, err
		}
	}
	return promote(ctx, s, move, rollback.Promoted{Attempt: a.Name, Session: from.Session, ID: rec.ID, Label: rec.Label, Mention: checkpoint.MentionOf(rec)}, req, title)
}

// promote plans the move that brings what is promoted. title is the reason, unless the user gave one.
func promote(ctx context.Context, s *checkpoint.Service, m rollback.Move, what rollback.Promoted, req PromoteRequest, title string) (*rollback.Plan, error) {
	m.Adds, m.Before = true, "before "+what.Mention.Name+" of session "+string(what.Session)+" was promoted"
	m.Says = func(a *rollback.Answer) { a.Promotes = &what }
	if req.Mode != rollback.ModeState {
		m.Mode = rollback.ModePromote
	}
	return rollback.PrepareMove(ctx, s, m, rollback.Request{
		Mode: req.Mode, Paths: req.Paths, OverwriteIgnored: req.OverwriteIgnored, Reason: cmp.Or(req.Reason, title), DryRun: req.DryRun,
	})
}

// promotable refuses attempts that cannot be promoted from this worktree.
func promotable(repo *git.Repo, a *Attempt) error {
	switch {
	case a.Unfinished:
		return checkpoint.Failure(checkpoint.KindRefused, "`git checkpoint fork --remove "+string(a.Session)+"` removes it", "the fork of %s was cut off", a.Name)
	case a.Worktree == repo.WorkTree:
		return checkpoint.Failure(checkpoint.KindRefused, fmt.Sprintf("run it in the worktree of session %s", a.FromSession), "this is the worktree of %s, and its files are here already", a.Name)
	}
	return nil
}

// stepOf returns the request for the checkpoint that records the promotion in the session here.
func stepOf(a *Attempt, into *journal.State, rec *record.Record, req PromoteRequest, title string) create.Request {
	r := create.Promoting(a.FromSession, rec)
	r.Message, r.IncludeIgnored = req.Message, literal(inspect.IgnoredOf(rec))
	if r.Message == "" {
		r.Message = strings.TrimSuffix(title+"\n\n"+rec.Message, "\n\n")
	}
	// A step of a workflow, or with a name, is that step here, too. Others get the number after the last, as every save does.
	if rec.Milestone {
		r.Step, r.Name = &rec.Step, rec.StepName
		if rec.StepName == "" && cmp.Or(into.Workflow, workflow.DefaultName) == workflow.DefaultName {
			r.Step = new(into.Highest() + 1)
		}
	}
	if req.Mode == rollback.ModeState {
		r.IncludeIgnored = nil
	}
	return r
}

// warnUnsaved warns if the attempt's worktree has changes that are in no checkpoint.
func warnUnsaved(ctx context.Context, s *checkpoint.Service, a *Attempt, rec *record.Record) {
	if a.Worktree == "" {
		return
	}
	in, err := checkpoint.OpenAt(ctx, s, a.Worktree)
	if err != nil {
		return // the worktree was removed
	}
	defer in.Close()
	if tree, err := inspect.TreeNow(ctx, in, rec); err == nil && tree != rec.Snapshot.Tree {
		s.Store.Warn(fmt.Sprintf("%s has changes since %s that are in no checkpoint and will not be brought; `git -C %s checkpoint save` makes one", a.Name, checkpoint.MentionOf(rec), name.Quoted(a.Worktree)))
	}
}
