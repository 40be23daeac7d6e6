package attempt

// A promotion is a rollback whose files come from another session, followed by a create in
// the session here. If the create fails, an undo of the rollback restores the files.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/threeway"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
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

// prepareJoin plans to merge what another line of the session here has with the files here. The checkpoint that is made
// joins that line, unless only some paths are brought.
func prepareJoin(ctx context.Context, s *checkpoint.Service, from *checkpoint.Found, req PromoteRequest) (*rollback.Plan, error) {
	st := from.State
	from.Entry = checkpoint.LineOf(st, from.Entry)
	if st.Place == "" || st.OnLine(st.Entry(st.Place))[from.Entry.Place] {
		return nil, checkpoint.Failure(checkpoint.KindRefused, "`git checkpoint status` names other lines", "%s is not on another line than the one here", checkpoint.Said(ctx, s.Store, st, from.Entry))
	}
	into := &checkpoint.Found{Session: from.Session, State: st, Entry: st.CurrentEntry()}
	var base *journal.Entry
	on := st.OnLine(from.Entry)
	for e := range st.LineTo(into.Entry) {
		if on[e.Place] && !e.Dead {
			base = e
			break
		}
	}
	if base == nil {
		return nil, checkpoint.Failure(checkpoint.KindRefused, "", "%s and the line here have no checkpoint in common", checkpoint.Said(ctx, s.Store, st, from.Entry))
	}
	rec, err := checkpoint.ReadRecord(ctx, s.Store, from.Entry)
	if err != nil {
		return nil, checkpoint.DamagedError(from.Entry, err)
	}
	called := checkpoint.NameTo(st, from.Entry)
	then := create.Request{Session: string(from.Session), Trigger: workflow.TriggerPromote, Selection: create.Selection{Large: true}, Message: cmp.Or(req.Message, rec.Message)}
	if len(req.Paths) == 0 {
		then.Joins = from.Entry.Checkpoint
	}
	if cmp.Or(st.Workflow, workflow.DefaultName) == workflow.DefaultName {
		then.Step = new(st.Highest() + 1)
	}
	move := rollback.Move{To: into, Files: from.Entry, Named: from.Entry.Safety, Then: &then}
	names := threeway.Names{Ours: checkpoint.NameTo(st, into.Entry), Base: checkpoint.NameTo(st, base), Theirs: called}
	if move.Merge, err = merging(ctx, s, base, names, req); err != nil {
		return nil, err
	}
	what := rollback.Promoted{Attempt: called, Session: from.Session, ID: rec.ID, Label: rec.Label, Mention: checkpoint.Mentioned(ctx, s.Store, st, from.Entry)}
	return promote(ctx, s, move, what, req, "promote "+called)
}

// merging returns a function that merges the files here with those of an attempt or another line. The base of this
// three-way merge is the copy with which the attempt began, or what both lines have. The plan of a rollback calls it with
// what it captured of the worktree and with its target, and writes the result. If only some paths
// were asked for, only these are written, and conflicts in others do not matter. What is staged
// stays as it is.
func merging(ctx context.Context, s *checkpoint.Service, first *journal.Entry, called threeway.Names, req PromoteRequest) (func(context.Context, *snapshot.Capture, snapshot.Target) (snapshot.Target, error), error) {
	base, err := rollback.TargetOf(ctx, s, first)
	if err != nil {
		return nil, err
	}
	wanted := func(string) bool { return true }
	if len(req.Paths) > 0 {
		if wanted, err = inspect.PathFilter(s.Repo, req.Paths); err != nil {
			return nil, err
		}
		wanted = inspect.WithSides(wanted)
	}
	return func(ctx context.Context, now *snapshot.Capture, t snapshot.Target) (snapshot.Target, error) {
		changes, err := threeway.Diff(ctx, s.Repo, threeway.SideOf(base), threeway.SideOf(t), called)
		if err != nil {
			return t, err
		}
		changes = slices.DeleteFunc(changes, func(c threeway.Change) bool { return !wanted(c.Path) })
		m := threeway.Begin(s.Repo, threeway.Side{Tree: now.Tree, Raw: now.Raw, Modes: now.Modes}, req.How == MergeConflict)
		m.Theirs = []name.OID{t.Tree}
		if err := m.Apply(ctx, base.Tree, changes); err != nil {
			return t, err
		}
		merged, err := m.Done(ctx)
		if err != nil {
			return t, err
		}
		return merged.Target(t), sayConflicts(s, m.Outcomes(), req.How)
	}, nil
}

// sayConflicts refuses a merge with conflicts, or warns of each if they are to be written.
func sayConflicts(s *checkpoint.Service, outcomes []threeway.Outcome, how MergeChoice) error {
	var paths, more []string
	for _, o := range outcomes {
		if o.How != threeway.Conflict {
			continue
		}
		paths = append(paths, o.Path)
		if o.Why == threeway.SameLines {
			more = []string{rollback.ConflictsHint}
		}
		switch {
		case how != MergeConflict:
		case o.Marked:
			s.Store.Warn(fmt.Sprintf("conflict in %s: it will get conflict markers", o.Path))
		default:
			s.Store.Warn(fmt.Sprintf("conflict in %s: it stays as it is here (%s)", o.Path, o.Why))
		}
	}
	if len(paths) == 0 || how == MergeConflict {
		return nil
	}
	return &checkpoint.Error{
		Kind: checkpoint.KindRefused, Message: fmt.Sprintf("the changes here and in the attempt conflict (conflicts: %d); nothing was changed", len(paths)),
		Hints: append(paths, more...),
	}
}
