package attempt

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/threeway"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/rollback"
)

// merging returns a function that merges the files here with those of an attempt. The base of this
// three-way merge is the copy with which the attempt began. The plan of a rollback calls it with
// what it captured of the worktree and with its target, and writes the result. If only some paths
// were asked for, only these are written, and conflicts in others do not matter. What is staged
// stays as it is.
func merging(ctx context.Context, s *checkpoint.Service, into name.Session, from *checkpoint.Found, req PromoteRequest) (func(context.Context, *snapshot.Capture, snapshot.Target) (snapshot.Target, error), error) {
	first := from.State.At(0)
	if first == nil {
		return nil, checkpoint.NoCheckpointError(from.State)
	}
	base, err := rollback.TargetOf(ctx, s, first)
	if err != nil {
		return nil, err
	}
	wanted := func(string) bool { return true }
	if len(req.Paths) > 0 {
		if wanted, err = inspect.PathFilter(s, req.Paths); err != nil {
			return nil, err
		}
		wanted = inspect.WithSides(wanted)
	}
	called := threeway.Names{Ours: string(into), Base: "the fork", Theirs: string(from.Session)}
	return func(ctx context.Context, now *snapshot.Capture, t snapshot.Target) (snapshot.Target, error) {
		changes, err := threeway.Between(ctx, s.Repo, threeway.SideOf(base), threeway.SideOf(t), called)
		if err != nil {
			return t, err
		}
		changes = slices.DeleteFunc(changes, func(c threeway.Change) bool { return !wanted(c.Path) })
		m := threeway.Into(s.Repo, threeway.Side{Tree: now.Tree, Raw: now.Raw, Modes: now.Modes}, req.How == MergeConflict)
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
	var paths []string
	for _, o := range outcomes {
		if o.How != threeway.Conflict {
			continue
		}
		paths = append(paths, o.Path)
		switch {
		case how != MergeConflict:
		case o.Marked:
			s.Warn(fmt.Sprintf("conflict in %s: it will get conflict markers", o.Path))
		default:
			s.Warn(fmt.Sprintf("conflict in %s: it stays as it is here (%s)", o.Path, o.Why))
		}
	}
	if len(paths) == 0 || how == MergeConflict {
		return nil
	}
	return &checkpoint.Error{
		Kind: checkpoint.KindRefused, Message: fmt.Sprintf("the changes here and in the attempt conflict (conflicts: %d); nothing was changed", len(paths)),
		Hints: append(paths, "--conflicts writes both versions into the files, with conflict markers"),
	}
}
