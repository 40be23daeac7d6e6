package attempt

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/threeway"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/rollback"
)

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
