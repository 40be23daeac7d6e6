package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"git-checkpoint/internal/format/name"
)

// CountBetween returns the number of commits that are reachable from to and not from from.
func (r *Repo) CountBetween(ctx context.Context, from, to name.OID) (int, error) {
	return r.count(ctx, string(to), "^"+string(from))
}

// CountLeft returns how many of the commits that CountBetween counts would no longer be on any
// branch, local or remote-tracking, if the branch moving were moved from to to from. An empty
// moving means that no branch moves (HEAD is detached).
func (r *Repo) CountLeft(ctx context.Context, from, to name.OID, moving name.Ref) (int, error) {
	args := []string{string(to), "^" + string(from), "--not"}
	if moving != "" {
		args = append(args, "--exclude="+string(moving))
	}
	return r.count(ctx, append(args, "--glob=refs/heads", "--remotes")...)
}

// count runs rev-list --count. The "--" keeps git from taking a revision for a path.
func (r *Repo) count(ctx context.Context, args ...string) (int, error) {
	out, err := r.Output(ctx, append(append([]string{"rev-list", "--count"}, args...), "--")...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}

// Below turns a path that the user typed, absolute or relative to the working directory, into one
// relative to the top of the worktree, with slashes. "." is the top itself. It returns an error for
// a path outside the worktree.
func (r *Repo) Below(p string) (string, error) {
	full := p
	if !filepath.IsAbs(p) {
		full = filepath.Join(r.WorkTree, filepath.FromSlash(r.Prefix), p)
	}
	rel, err := filepath.Rel(r.WorkTree, full)
	if !filepath.IsLocal(rel) { // the path may lead into the worktree through a symbolic link
		if dir, wrong := filepath.EvalSymlinks(filepath.Dir(full)); wrong == nil {
			rel, err = filepath.Rel(r.WorkTree, filepath.Join(dir, filepath.Base(full)))
		}
	}
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", fmt.Errorf("%q is outside the worktree %q", p, r.WorkTree)
	}
	return filepath.ToSlash(rel), nil
}

// DiffMatching returns the set of paths that differ between two trees and that match pathspecs.
// Pathspecs are relative to the directory where the user is; the returned paths are relative to the
// top of the worktree.
func (r *Repo) DiffMatching(ctx context.Context, a, b name.OID, specs []string) (map[string]bool, error) {
	args := []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-relative", string(a), string(b), "--"}
	out, err := r.Run(ctx, Cmd{Args: append(args, specs...), Dir: filepath.Join(r.WorkTree, filepath.FromSlash(r.Prefix))})
	if err != nil {
		return nil, fmt.Errorf("match paths: %w", err)
	}
	matched := map[string]bool{}
	for p := range strings.SplitSeq(string(out.Stdout), "\x00") {
		if p != "" { // what follows the last NUL
			matched[p] = true
		}
	}
	return matched, nil
}

// HeadMove says where MoveHead puts HEAD.
type HeadMove struct {
	Branch name.Ref // the branch that HEAD is to be on; empty: HEAD is to be detached
	To     name.OID // the commit
	Old    name.OID // what the branch, or HEAD where it is to be detached, must point to before; empty: it must not exist
	Reason string   // for the reflog, on one line or more
}

// MoveHead moves a branch to a commit and puts HEAD on it, or detaches HEAD there. It works in
// three steps: it sets ORIG_HEAD, moves the branch (or HEAD), and switches HEAD to the branch if it
// is on another one. git writes the reflogs. The error is a LockedError when another process holds
// one of the locks. Index and files are not touched.
func (r *Repo) MoveHead(ctx context.Context, m HeadMove) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx = context.WithoutCancel(ctx) // stopping between the steps would leave half of the move
	message := "checkpoint: " + strings.Join(strings.Fields(m.Reason), " ")
	run := func(what string, args ...string) error {
		_, err := r.Run(ctx, Cmd{Args: args})
		if lock := HeldLock(err); lock != "" {
			err = &LockedError{Path: lock}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
	if r.Head.OID != "" {
		if err := run("set ORIG_HEAD", "update-ref", "ORIG_HEAD", string(r.Head.OID)); err != nil {
			return err
		}
	}
	ref, args := string(m.Branch), []string{"update-ref", "-m", message}
	if ref == "" {
		ref, args = "HEAD", append(args, "--no-deref")
	}
	// For git an empty old value means that the ref must not exist.
	args = append(args, ref, string(m.To), string(m.Old))
	if err := run("move "+ref, args...); err != nil || m.Branch == "" {
		return err
	}
	if now, err := r.Output(ctx, "symbolic-ref", "-q", "HEAD"); err == nil && now == ref {
		return nil
	}
	return run("switch to "+ref, "symbolic-ref", "-m", message, "HEAD", ref)
}
