package snapshot

import (
	"context"

	"git-checkpoint/internal/git"
)

// sparseInForce reports whether git itself takes the skip-worktree bit off entries
// whose file is there, whenever it reads the index. To put such a bit back where the
// checkout is not sparse any more would hide the file from git.
func (s *Shot) sparseInForce() bool {
	on, err := s.repo.Config.Bool("core.sparseCheckout", false)
	expects, _ := s.repo.Config.Bool("sparse.expectFilesOutsideOfPatterns", false) //nolint:errcheck // as good as unset
	return on && err == nil && !expects
}

// absentPaths are the files of an index that a sparse checkout left off the disk.
// They stand in the captured tree as they are staged.
func absentPaths(ix *IndexState) map[string]bool {
	out := map[string]bool{}
	if ix == nil {
		return out
	}
	for _, p := range ix.SkipWorktree {
		out[p] = true
	}
	for _, p := range ix.SparsePresent {
		delete(out, p)
	}
	return out
}

// absentThen are the files that the target does not bring back because of a sparse
// checkout: those that were absent then and, where the index stays as it is, those
// that are absent now and that the target does not list as there all the same.
func (p *Plan) absentThen() map[string]bool {
	if p.Target.Index == nil {
		return absentPaths(&p.Cur.Index)
	}
	out := absentPaths(p.Target.Index)
	if !p.Scope.SkipIndex {
		return out
	}
	present := map[string]bool{}
	for _, q := range p.Target.Index.SparsePresent {
		present[q] = true
	}
	for q := range absentPaths(&p.Cur.Index) {
		if !present[q] {
			out[q] = true
		}
	}
	return out
}

// sparseChanges corrects the differences of two trees by what was really on the
// disk on either side.
func (s *Shot) sparseChanges(ctx context.Context, p *Plan, changes []git.Change) ([]git.Change, error) {
	now, then := absentPaths(&p.Cur.Index), p.absentThen()
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
	for path := range now {
		if !then[path] && !seen[path] {
			differ[path] = true
		}
	}
	for path := range then {
		if !now[path] && !seen[path] {
			differ[path] = true
		}
	}
	if len(differ) == 0 {
		return out, nil
	}
	err := s.repo.WalkTree(ctx, p.Cur.Tree, func(path string, e git.Entry) error {
		if differ[path] { // the same on both sides, or it were among the changes
			add(git.Change{Path: path, Old: e, New: e})
		}
		return nil
	})
	return out, err
}

// mixed is an index state of which only a part comes back.
func mixed(now, then IndexState, only func(string) bool) *IndexState {
	pick := func(now, then []string) []string {
		var out []string
		for _, p := range now {
			if !only(p) {
				out = append(out, p)
			}
		}
		for _, p := range then {
			if only(p) {
				out = append(out, p)
			}
		}
		return out
	}
	m := &IndexState{
		IntentToAdd:     pick(now.IntentToAdd, then.IntentToAdd),
		AssumeUnchanged: pick(now.AssumeUnchanged, then.AssumeUnchanged),
		SkipWorktree:    pick(now.SkipWorktree, then.SkipWorktree),
	}
	for _, u := range now.Unmerged {
		if !only(u.Path) {
			m.Unmerged = append(m.Unmerged, u)
		}
	}
	for _, u := range then.Unmerged {
		if only(u.Path) {
			m.Unmerged = append(m.Unmerged, u)
		}
	}
	return m
}
