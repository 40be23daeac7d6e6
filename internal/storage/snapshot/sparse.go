package snapshot

// In a sparse checkout git marks the files that it leaves off the disk with the skip-worktree
// bit. The captured tree has these files as they are staged, so a comparison of two captured
// trees does not say what was on the disk. The functions here correct that for a restore: a file
// that was not on the disk is not written, and one that was not there is not deleted.

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// isSparse reports whether a sparse checkout is in force.
func (s *checkout) isSparse() bool {
	on, err := s.repo.Config.Bool("core.sparseCheckout", false)
	return on && err == nil
}

// forgetSparse takes the bits that a sparse checkout had set off the target where the rules of now keep no file
// away: git would take the files for unchanged that are missing. The restore leaves these files alone.
func (s *planner) forgetSparse(ctx context.Context, p *Plan, _ []git.Change) error {
	if p.Target.Index == nil || !p.Target.Index.Sparse {
		return nil
	}
	p.forgotten = absentPaths(p.Target.Index)
	if s.isSparse() { // what is away now, too, stays so
		now := absentPaths(&p.Cur.Index)
		maps.DeleteFunc(p.forgotten, func(q string, _ bool) bool { return now[q] })
	}
	outside, err := s.outsideSparse(ctx, p.forgotten)
	maps.DeleteFunc(p.forgotten, func(q string, _ bool) bool { return outside[q] })
	index := *p.Target.Index
	index.SkipWorktree = slices.DeleteFunc(slices.Clone(index.SkipWorktree), func(q string) bool { return p.forgotten[q] })
	p.Target.Index = &index
	return err
}

// outsideSparse returns those of paths that the rules of a sparse checkout keep away now. Of a path and the
// directories above it the nearest decides that a rule matches, and there the last rule. Before version 2.41 no command
// of git's says so, but attributes match in the same way.
func (s *planner) outsideSparse(ctx context.Context, paths map[string]bool) (map[string]bool, error) {
	text, err := os.ReadFile(filepath.Join(s.repo.GitDir, "info", "sparse-checkout"))
	if !s.isSparse() || err != nil || len(paths) == 0 {
		return nil, nil //nolint:nilerr // without rules git keeps nothing away either
	}
	var rules strings.Builder
	for line := range strings.Lines(string(text)) {
		pattern, out := strings.CutPrefix(strings.TrimRight(line, " \r\n"), "!")
		if pattern != "" && line[0] != '#' {
			fmt.Fprintf(&rules, "%s kept=%v\n", quotePath(pattern), !out)
		}
	}
	ask, dirs := slices.Collect(maps.Keys(paths)), map[string]bool{}
	worktree.AddAbove(dirs, ask...)
	for d := range dirs {
		ask = append(ask, d+"/")
	}
	dir, in, err := s.rules.scratchRepository("attributes", rules.String())
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // disposable, swept by age
	in.Args, in.Stdin = []string{"check-attr", "-z", "--stdin", "kept"}, strings.NewReader(joined(ask))
	res, err := s.repo.Run(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("look up the rules of the sparse checkout: %w", err)
	}
	says := map[string]string{}
	for said := range slices.Chunk(res.Paths(), 3) { // path, attribute, value
		says[said[0]] = strings.TrimPrefix(said[2], "unspecified")
	}
	outside := maps.Clone(paths)
	maps.DeleteFunc(outside, func(p string, _ bool) bool {
		say := says[p]
		for d := range worktree.ParentsOf(p) {
			say = cmp.Or(say, says[d+"/"])
		}
		return say == "true"
	})
	return outside, nil
}

// absentPaths returns the files of an index that a sparse checkout left off the disk. The
// captured tree has them as they are staged.
func absentPaths(ix *IndexState) map[string]bool {
	if ix == nil {
		return map[string]bool{}
	}
	out := gather.SetOf(ix.SkipWorktree)
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
	present := gather.SetOf(p.Target.Index.SparsePresent)
	for q := range absentPaths(&p.Cur.Index) {
		if !present[q] {
			out[q] = true
		}
	}
	return out
}

// staysOutside adds to then the files that only the rules of now keep away, and that the index afterwards has as the
// target has them. They stay away with their bits, as git leaves them.
func (s *planner) staysOutside(ctx context.Context, p *Plan, now, then map[string]bool) error {
	only := maps.Clone(now)
	maps.DeleteFunc(only, func(q string, _ bool) bool { return then[q] || p.Target.Raw[q] != "" })
	if len(only) == 0 || p.Index == nil || !p.Scope.KeepAway {
		return nil
	}
	changes, err := s.repo.Trees.Diff(ctx, p.Target.Tree, p.IndexTree)
	if err != nil {
		return err
	}
	for _, c := range changes {
		delete(only, c.Path)
	}
	only, err = s.outsideSparse(ctx, only)
	maps.Copy(then, only)
	index := *p.Index
	index.SkipWorktree = slices.AppendSeq(slices.Clone(index.SkipWorktree), maps.Keys(only))
	p.Index = &index
	return err
}

// sparseChanges corrects changes, the difference between two captured trees, by what was on the
// disk on either side. A file that was absent on one side is removed from that side; a file that is
// the same in both trees but was absent on one side becomes a change. A file that was absent in the
// target because of rules of a sparse checkout that are no longer in force is not a change.
func (s *planner) sparseChanges(ctx context.Context, p *Plan, changes []git.Change) ([]git.Change, error) {
	changes = slices.DeleteFunc(changes, func(c git.Change) bool { return p.forgotten[c.Path] })
	now, then := absentPaths(&p.Cur.Index), p.absentThen()
	maps.DeleteFunc(now, func(q string, _ bool) bool { return p.forgotten[q] })
	if err := s.staysOutside(ctx, p, now, then); err != nil {
		return nil, err
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
		Unmerged:        pick(now.Unmerged, then.Unmerged, func(u git.Unmerged) bool { return only(u.Path) }),
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
