package rollback

// This file finds files that the user has not saved anywhere and that a rollback would change. The
// safety checkpoint keeps them, but the user should know before confirming.

import (
	"context"
	"maps"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
)

// unsaved lists the files that a plan deletes or overwrites although neither HEAD nor a recent
// checkpoint has their content. The safety checkpoint becomes their only copy, so the user should
// know.
func (r *fileMoves) unsaved(ctx context.Context, plan PlanFiles) (unsaved []checkpoint.Path, err error) {
	open := gather.SetOf(create.FromPaths(slices.Concat(plan.Delete, plan.Write)))
	for _, o := range r.plan.Ops {
		switch {
		case o.Old.Mode == 0: // there is no such file now
			delete(open, o.Path)
		// The usual case: it was edited a moment ago. It takes no comparison to know that.
		case open[o.Path] && r.s.Repo.Objects.Created(o.Old.OID):
			delete(open, o.Path)
			unsaved = append(unsaved, checkpoint.Path(o.Path))
		}
	}
	for _, commit := range r.copies() {
		if len(open) == 0 {
			break
		}
		if err := r.strikeSaved(ctx, commit, open); err != nil {
			return nil, err
		}
	}
	for p := range open {
		unsaved = append(unsaved, checkpoint.Path(p))
	}
	slices.Sort(unsaved)
	return unsaved, nil
}

// copies returns the commits that may have the present files, the most likely first.
func (r *target) copies() []name.OID {
	const maxCompared = 50 // how many commits are compared with the worktree. More would make a plan slow in long sessions
	var commits []name.OID
	// Most files are as in the current checkpoint or in HEAD.
	if e := r.To.State.CurrentEntry(); e != nil {
		commits = append(commits, e.Event().Commit)
	}
	if head := r.s.Repo.Head.OID; head != "" {
		commits = append(commits, head)
	}
	for i, e := range r.To.State.Backward() {
		if len(commits) == maxCompared {
			break
		}
		if !e.Dead {
			commits = append(commits, r.To.State.At(i).Event().Commit)
		}
	}
	return commits
}

// strikeSaved removes from open the files that a commit has with their present content. A commit
// that cannot be read removes none.
func (r *fileMoves) strikeSaved(ctx context.Context, commit name.OID, open map[string]bool) error {
	c, err := r.s.Repo.Commits.Read(ctx, string(commit))
	if err != nil {
		return ctx.Err()
	}
	changes, err := r.s.Repo.Trees.Diff(ctx, r.cur.Tree, c.Tree)
	if err != nil {
		return ctx.Err()
	}
	differs := map[string]bool{}
	for _, d := range changes {
		// A change of the mode alone loses no content. The commit has no content of a nested
		// repository at all.
		differs[d.Path] = d.Old.OID != d.New.OID || d.New.Mode == git.ModeGitlink
	}
	maps.DeleteFunc(open, func(p string, _ bool) bool { return !differs[p] })
	return nil
}
