package rollback

// This file is about a restore: a rollback that brings back some paths and nothing else. The session
// stays where it is, and its undo brings back the paths that the restore changed.

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
)

// restoring returns the target of a restore from the checkpoint in from. It is an error if the session
// has no current checkpoint, because the event of a restore says where the session stays.
func restoring(s *checkpoint.Service, req Request, from *checkpoint.Found) (target, error) {
	if req.Branch == BranchMove {
		return target{}, checkpoint.Usage("--state brings the rest of the checkpoint back, too", "paths alone move no branch")
	}
	now := from.State.CurrentEntry()
	if now == nil {
		hint := fmt.Sprintf("`git restore --source=%s -- %s` brings them back", from.Entry.Event().Commit.Short(), name.Quoted(req.Paths[0]))
		return target{}, checkpoint.Failure(checkpoint.KindRefused, hint, "session %q is at no checkpoint, so an undo could not go back to one", from.Session)
	}
	return target{s: s, req: req, Move: Move{
		To: &checkpoint.Found{Session: from.Session, State: from.State, Entry: now}, Files: from.Entry, Named: true, Part: true, Branch: branchStays(s.Repo),
		Mode: ModePaths, Before: "before some paths of " + checkpoint.CalledBy(from.Entry) + " were restored",
	}}, nil
}

// branchStays is the plan that leaves HEAD and its branch where they are.
func branchStays(repo *git.Repo) *checkpoint.BranchPlan {
	return &checkpoint.BranchPlan{Name: repo.Head.Branch, From: repo.Head.OID, To: repo.Head.OID}
}

// undoRestores makes r the undo of restores alone. If there are several, each is undone by itself, and
// r shows what they do together.
func (r *target) undoRestores(ctx context.Context) {
	r.Part, r.Branch, r.Mode, r.req.Mode, r.only = true, branchStays(r.s.Repo), ModePaths, ModeWorktree, map[string]bool{}
	for _, l := range r.levels {
		if !l.Head.Stays() || isGone(r.lists.entry(l.Head.Safety)) {
			continue
		}
		var changed create.Restored
		rec, err := checkpoint.ReadRecord(ctx, r.s.Store, r.lists.entry(l.Head.Safety))
		says := err == nil
		if says {
			changed, says = create.MemberRestored.Of(rec.Snapshot.Extra)
		}
		if !says { // an earlier version brought back all of the safety checkpoint
			r.only, r.req.Mode = nil, ModePaths
			return
		}
		for _, p := range changed.Paths {
			r.only[string(p)] = true
		}
		if changed.Index {
			r.req.Mode = ModePaths
		}
	}
}

// changed returns what the plan of a restore changes, nil for any other plan.
func (r *fileMoves) changed(ctx context.Context) (*create.Restored, error) {
	if !r.Part {
		return nil, nil
	}
	paths := gather.Map(r.plan.Ops, func(op snapshot.Op) (string, bool) { return op.Path, !op.Same })
	is := &create.Restored{Index: !r.plan.Scope.SkipIndex}
	if is.Index && r.plan.IndexTree != "" {
		entries, err := r.s.Repo.Trees.Diff(ctx, r.cur.Index.Tree, r.plan.IndexTree)
		if err != nil {
			return nil, err
		}
		for _, c := range entries {
			paths[c.Path] = true
		}
	}
	if is.Index && r.plan.Index != nil {
		was, will := marks(r.cur.Index), marks(*r.plan.Index)
		for _, side := range []map[string]string{was, will} {
			for p := range side {
				paths[p] = paths[p] || was[p] != will[p]
			}
		}
	}
	maps.DeleteFunc(paths, func(_ string, changes bool) bool { return !changes })
	is.Paths = create.ToPaths(slices.Sorted(maps.Keys(paths)))
	return is, nil
}

// marks returns what an index has beside the entries in its tree, by path.
func marks(x snapshot.IndexState) map[string]string {
	out := map[string]string{}
	for mark, list := range [][]string{x.IntentToAdd, x.AssumeUnchanged, x.SkipWorktree} {
		for _, p := range list {
			out[p] += fmt.Sprint(mark)
		}
	}
	for _, u := range x.Unmerged {
		out[u.Path] += fmt.Sprint(u.Stage, u.Entry.Mode, u.Entry.OID) // one of a record has its path besides
	}
	return out
}
