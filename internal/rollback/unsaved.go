package rollback

import (
	"context"
	"slices"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// maxCompared bounds how many checkpoints are compared with what is there now.
const maxCompared = 50

// answerUnsaved lists the files that go or are overwritten although neither HEAD nor a
// recent checkpoint has their content: the safety checkpoint becomes their only copy.
func answerUnsaved(ctx context.Context, r *Plan) error {
	open := map[string]bool{}
	for _, list := range [][]checkpoint.Path{r.answer.Plan.Delete, r.answer.Plan.Write} {
		for _, p := range list {
			open[string(p)] = true
		}
	}
	for _, o := range r.plan.Ops {
		if o.Old.Mode == 0 { // nothing is there now
			delete(open, o.Path)
		}
	}
	for _, commit := range copies(r) {
		if len(open) == 0 {
			break
		}
		if err := strikeSaved(ctx, r, commit, open); err != nil {
			return err
		}
	}
	for p := range open {
		r.answer.Plan.Unsaved = append(r.answer.Plan.Unsaved, checkpoint.Path(p))
	}
	slices.Sort(r.answer.Plan.Unsaved)
	return nil
}

// copies are the commits that may have what is there now, the likeliest first.
func copies(r *Plan) []name.OID {
	var commits []name.OID
	if e := r.to.State.CurrentEntry(); e != nil {
		commits = append(commits, e.Event().Commit)
	}
	if head := r.s.Repo.Head.OID; head != "" {
		commits = append(commits, head)
	}
	for i, e := range r.to.State.Backward() {
		if len(commits) == maxCompared {
			break
		}
		if !e.Dead {
			commits = append(commits, r.to.State.At(i).Event().Commit)
		}
	}
	return commits
}

// strikeSaved strikes out what a commit has as it is now. One that cannot be read has nothing.
func strikeSaved(ctx context.Context, r *Plan, commit name.OID, open map[string]bool) error {
	c, err := r.s.Repo.ReadCommit(ctx, string(commit))
	if err != nil {
		return ctx.Err()
	}
	changes, err := r.s.Repo.DiffTrees(ctx, r.cur.Tree, c.Tree)
	if err != nil {
		return ctx.Err()
	}
	differs := map[string]bool{}
	for _, d := range changes {
		differs[d.Path] = d.Old.OID != d.New.OID || d.New.Mode == git.ModeGitlink
	}
	for p := range open {
		if !differs[p] {
			delete(open, p)
		}
	}
	return nil
}
