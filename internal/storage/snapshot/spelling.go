package snapshot

// On a disk that does not distinguish case, or forms of the same letter, a name finds a file that has
// another spelling.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// foldsCase reports whether the disk treats names that differ only in case as the same.
func foldsCase(repo *git.Repo) bool {
	for _, dir := range []string{repo.WorkTree, repo.CommonDir} {
		for _, twin := range []string{".GIT", "cOnFiG"} {
			if _, err := os.Lstat(filepath.Join(dir, twin)); err != nil {
				continue
			}
			// It is there. Does the directory list it, in this spelling?
			entries, err := os.ReadDir(dir)
			if err != nil || !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == twin }) {
				return true
			}
		}
	}
	return false
}

// TwinsError says that the target has two paths that this disk holds as one file. Such a checkpoint
// comes from another disk.
type TwinsError struct{ A, B string }

func (e *TwinsError) Error() string {
	return fmt.Sprintf("the checkpoint has both %q and %q, which this disk holds as one", e.A, e.B)
}

// refuseTwins returns a TwinsError if the plan would write one of two paths of the target that the
// file system does not distinguish.
func (s *planner) refuseTwins(ctx context.Context, p *Plan, _ []git.Change) error {
	written := map[string]bool{}
	for _, o := range p.Ops {
		if o.New.Mode != 0 {
			written[o.Path] = true
		}
	}
	if !s.folds || len(written) == 0 {
		return nil
	}
	var paths []string
	err := s.repo.Trees.Walk(ctx, p.Target.Tree, func(path string, e git.Entry) error {
		if !e.IsTree() && (p.Scope.Only == nil || p.Scope.Only(path)) {
			paths = append(paths, path)
		}
		return nil
	})
	if a, b := twins(paths, written); err == nil && a != "" {
		err = &TwinsError{a, b}
	}
	return err
}

// twins returns two of paths, with directories above them, that differ in case only and of which at
// least one is in written, or lies above one that is.
func twins(paths []string, written map[string]bool) (a, b string) {
	type place struct {
		path string
		new  bool
	}
	by := map[string]place{}
	for _, p := range paths {
		for d := range worktree.ParentsOf(p + "/") {
			key, now := strings.ToLower(d), place{d, written[p]}
			was, known := by[key]
			if known && was.path != d && (was.new || now.new) {
				if d < was.path {
					return d, was.path
				}
				return was.path, d
			}
			if !known || !was.new {
				by[key] = now
			}
		}
	}
	return "", ""
}
