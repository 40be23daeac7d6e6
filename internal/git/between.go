package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
)

// CountBetween returns the number of commits that are reachable from to and not from from.
func (c *Commits) CountBetween(ctx context.Context, from, to name.OID) (int, error) {
	return c.count(ctx, string(to), "^"+string(from))
}

// CountLeft returns how many of the commits that CountBetween counts would no longer be on any
// branch, local or remote-tracking, if the branch moving were moved from to to from. An empty
// moving means that no branch moves (HEAD is detached).
func (c *Commits) CountLeft(ctx context.Context, from, to name.OID, moving name.Ref) (int, error) {
	args := []string{string(to), "^" + string(from), "--not"}
	if moving != "" {
		args = append(args, "--exclude="+string(moving))
	}
	return c.count(ctx, append(args, "--glob=refs/heads", "--remotes")...)
}

// count runs rev-list --count. The "--" keeps git from taking a revision for a path.
func (c *Commits) count(ctx context.Context, args ...string) (int, error) {
	out, err := c.at.Output(ctx, append(append([]string{"rev-list", "--count"}, args...), "--")...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}

// RelativePath turns a path that the user typed, absolute or relative to the working directory, into one
// relative to the top of the worktree, with slashes. "." is the top itself. It returns an error for
// a path outside the worktree.
func (l *Location) RelativePath(p string) (string, error) {
	full := p
	if !filepath.IsAbs(p) {
		full = filepath.Join(l.WorkTree, filepath.FromSlash(l.Prefix), p)
	}
	rel, err := filepath.Rel(l.WorkTree, full)
	if !filepath.IsLocal(rel) { // the path may lead into the worktree through a symbolic link
		if dir, wrong := filepath.EvalSymlinks(filepath.Dir(full)); wrong == nil {
			rel, err = filepath.Rel(l.WorkTree, filepath.Join(dir, filepath.Base(full)))
		}
	}
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", fmt.Errorf("%q is outside the worktree %q", p, l.WorkTree)
	}
	return filepath.ToSlash(rel), nil
}

// Typed returns a path below the top of the worktree as it is typed in the working directory.
func (l *Location) Typed(p string) string {
	rel, _ := filepath.Rel(filepath.FromSlash("/"+l.Prefix), filepath.FromSlash("/"+p)) //nolint:errcheck // both are absolute
	return filepath.ToSlash(rel)
}

// DiffMatching returns the set of paths that differ between two trees and that match pathspecs.
// Pathspecs are relative to the directory where the user is; the returned paths are relative to the
// top of the worktree.
func (t *Trees) DiffMatching(ctx context.Context, a, b name.OID, specs []string) (map[string]bool, error) {
	args := []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-relative", string(a), string(b), "--"}
	out, err := t.at.Run(ctx, Cmd{Args: append(args, specs...), Dir: filepath.Join(t.at.WorkTree, filepath.FromSlash(t.at.Prefix))})
	if err != nil {
		return nil, fmt.Errorf("match paths: %w", err)
	}
	return gather.SetOf(out.Paths()), nil
}
