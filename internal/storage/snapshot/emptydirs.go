package snapshot

// Git has no empty directories, but programs expect them: a test writes into an out/ whose files are
// all ignored. A capture notes the directories that hold no captured file among the permission bits,
// with a slash at the end of the name, and a restore keeps or makes them.

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// noteEmpty adds the directories that the scan found empty to c.Modes, and those whose tracked files
// are all gone.
func (s *chooser) noteEmpty(empty []string, private *privateIndex, c *Capture) {
	const mostEmpty = 10_000 // how many directories a capture notes. The record has to stay small
	left := map[string]bool{}
	for p, e := range c.edits {
		if dir := path.Dir(p); e.Mode == 0 && dir != "." {
			left[dir] = true
		}
	}
	maps.DeleteFunc(left, func(d string, _ bool) bool {
		info, err := s.files.Lstat(d)
		return err != nil || info == nil || !info.IsDir()
	})
	if len(left) > 0 {
		held := map[string]bool{}
		worktree.AddAbove(held, c.Untracked...)
		for _, e := range private.entries {
			if edit, edited := c.edits[e.Path]; !edited || edit.Mode != 0 {
				worktree.AddAbove(held, e.Path)
			}
		}
		maps.DeleteFunc(left, func(d string, _ bool) bool { return held[d] })
	}
	all := append(slices.Sorted(maps.Keys(left)), empty...)
	for _, d := range all[:min(len(all), mostEmpty)] {
		info, err := s.files.Lstat(d)
		if nested, failed := s.files.NestedAt(d); err == nil && failed == nil && !nested && info != nil && info.IsDir() && s.left(d) == "" {
			c.Modes[d+"/"] = info.Mode().Perm()
		}
	}
}

// addDirs lists the directories that the target had and that are missing now.
func (s *planner) addDirs(_ context.Context, p *Plan, _ []git.Change) error {
	missing, written := map[string]bool{}, map[string]bool{}
	worktree.AddAbove(written, pathsTo(p.Ops, OpWrite)...)
	for at := range p.Target.Modes {
		dir, is := strings.CutSuffix(at, "/")
		if !is || written[dir] || git.RefusedName(dir, false) || s.files.InGit(dir) || p.Scope.Only != nil && !p.Scope.Only(dir) {
			continue
		}
		for d := range worktree.ParentsOf(at) {
			info, err := s.files.Lstat(d)
			if err != nil || info != nil {
				break
			}
			missing[d] = true
		}
	}
	p.Dirs = slices.Sorted(maps.Keys(missing))
	return nil
}

// makeDirs makes the directories of the plan. One that cannot be made, because something is in its way
// by now, is no reason to take the files back.
func (m *mover) makeDirs() {
	for _, d := range m.intent.Dirs {
		m.makeParents(d + "/") //nolint:errcheck // see above
	}
	for _, d := range slices.Backward(m.intent.Dirs) {
		mode, known := m.intent.NewModes[d+"/"]
		if info, err := m.worktree.files.Lstat(d); known && err == nil && info != nil && info.IsDir() {
			m.worktree.files.Root.Chmod(d, mode&fs.ModePerm) //nolint:errcheck // see above
		}
	}
}
