package snapshot

// In a sparse checkout git marks the files that it leaves off the disk with the skip-worktree
// bit. The captured tree has these files as they are staged, so a comparison of two captured
// trees does not say what was on the disk. The functions here correct that for a restore: a file
// that was not on the disk is not written, and one that was not there is not deleted.

import (
	"context"
	"slices"

	"git-checkpoint/internal/git"
)

// isSparse reports whether a sparse checkout is in force.
func (s *checkout) isSparse() bool {
	on, err := s.repo.Config.Bool("core.sparseCheckout", false)
	return on && err == nil
}

// forgetSparse takes the bits that a sparse checkout had set off the target, if none is in force now:
// git would take the files for unchanged that are missing. It returns the paths that were absent for
// that reason alone. The restore leaves these files alone.
func (s *planner) forgetSparse(t *Target) map[string]bool {
	if t.Index == nil || !t.Index.Sparse || s.isSparse() {
		return nil
	}
	absent := absentPaths(t.Index)
	index := *t.Index
	index.SkipWorktree = slices.DeleteFunc(slices.Clone(index.SkipWorktree), func(p string) bool { return absent[p] })
	t.Index = &index
	return absent
}

// sparseInForce reports whether git itself clears the skip-worktree bit of an entry whose file
// exists, each time it reads the index. A capture does not record such bits: if a restore put one
// back after the checkout is no longer sparse, it would hide the file from git.
func (s *capturer) sparseInForce() bool {
	expects, _ := s.repo.Config.Bool("sparse.expectFilesOutsideOfPatterns", false) //nolint:errcheck // as good as unset
	return s.isSparse() && !expects
}

// absentPaths returns the files of an index that a sparse checkout left off the disk. The
// captured tree has them as they are staged.
func absentPaths(ix *IndexState) map[string]bool {
	if ix == nil {
		return map[string]bool{}
	}
	out := setOf(ix.SkipWorktree)
	for _, p := range ix.SparsePresent {
		delete(out, p)
	}
	return out
}

// absentThen returns the files that the target does not bring back because of a sparse checkout.
// These are the files that were absent when the target was captured. If the index stays as it is,
// they also include the files that are absent now, unless the target says that they were present.
func (p *Plan) absentThen() map[string]bool {
	if p.Target.Index == nil {
		return absentPaths(&p.Cur.Index)
	}
	out := absentPaths(p.Target.Index)
	if !p.Scope.SkipIndex {
		return out
	}
	present := setOf(p.Target.Index.SparsePresent)
	for q := range absentPaths(&p.Cur.Index) {
		if !present[q] {
			out[q] = true
		}
	}
	return out
}

// sparseChanges corrects changes, the difference between two captured trees, by what was on the
// disk on either side. A file that was absent on one side is removed from that side; a file that is
// the same in both trees but was absent on one side becomes a change. A file that was absent in the
// target because of a sparse checkout that is switched off since is not a change.
func (s *planner) sparseChanges(ctx context.Context, p *Plan, changes []git.Change) ([]git.Change, error) {
	alone := s.forgetSparse(&p.Target)
	changes = slices.DeleteFunc(changes, func(c git.Change) bool { return alone[c.Path] })
	now, then := absentPaths(&p.Cur.Index), p.absentThen()
	for q := range alone {
		delete(now, q)
	}
	if len(now)+len(then) == 0 {
		return changes, nil
	}
	var out []git.Change
	seen := map[string]bool{}
	add := func(c git.Change) {
		seen[c.Path] = true
		if now[c.Path] {
			c.Old = git.Entry{}
		}
		if then[c.Path] {
			c.New = git.Entry{}
		}
		if c.Old.Mode != 0 || c.New.Mode != 0 {
			out = append(out, c)
		}
	}
	for _, c := range changes {
		add(c)
	}
	differ := map[string]bool{}
	for _, side := range []map[string]bool{now, then} {
		for path := range side {
			if now[path] != then[path] && !seen[path] {
				differ[path] = true
			}
		}
	}
	if len(differ) == 0 {
		return out, nil
	}
	err := s.repo.Trees.Walk(ctx, p.Cur.Tree, func(path string, e git.Entry) error {
		if differ[path] {
			// The entry is the same in both trees, otherwise it would be among the changes.
			add(git.Change{Path: path, Old: e, New: e})
		}
		return nil
	})
	return out, err
}

// mixed combines two index states for a restore of some paths: then for the paths that only
// selects, and now for the others. It has no Tree; planIndex computes that.
func mixed(now, then IndexState, only func(string) bool) *IndexState {
	return &IndexState{
		Unmerged:        pick(now.Unmerged, then.Unmerged, func(u Stage) bool { return only(u.Path) }),
		IntentToAdd:     pick(now.IntentToAdd, then.IntentToAdd, only),
		AssumeUnchanged: pick(now.AssumeUnchanged, then.AssumeUnchanged, only),
		SkipWorktree:    pick(now.SkipWorktree, then.SkipWorktree, only),
	}
}

// pick returns the items of now that are out of scope, and those of then that are in it.
func pick[T any](now, then []T, in func(T) bool) []T {
	stay := slices.DeleteFunc(slices.Clone(now), in)
	return append(stay, slices.DeleteFunc(slices.Clone(then), func(item T) bool { return !in(item) })...)
}
