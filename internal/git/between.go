package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"git-checkpoint/internal/name"
)

// CountBetween counts the commits that to reaches and from does not.
func (r *Repo) CountBetween(ctx context.Context, from, to name.OID) (int, error) {
	return r.count(ctx, string(to), "^"+string(from))
}

// CountLeft counts those of them that no branch would hold any more if one moved to from.
func (r *Repo) CountLeft(ctx context.Context, from, to name.OID, moving name.Ref) (int, error) {
	args := []string{string(to), "^" + string(from), "--not"}
	if moving != "" {
		args = append(args, "--exclude="+string(moving))
	}
	return r.count(ctx, append(args, "--glob=refs/heads", "--remotes")...)
}

func (r *Repo) count(ctx context.Context, args ...string) (int, error) {
	out, err := r.Output(ctx, append(append([]string{"rev-list", "--count"}, args...), "--")...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}

// Below turns a path that the user typed, relative to where they are or absolute,
// into one below the top of the worktree; "." is the top itself.
func (r *Repo) Below(p string) (string, error) {
	full := p
	if !filepath.IsAbs(p) {
		full = filepath.Join(r.WorkTree, filepath.FromSlash(r.Prefix), p)
	}
	rel, err := filepath.Rel(r.WorkTree, full)
	if !filepath.IsLocal(rel) { // perhaps it goes through a link that leads here
		if dir, wrong := filepath.EvalSymlinks(filepath.Dir(full)); wrong == nil {
			rel, err = filepath.Rel(r.WorkTree, filepath.Join(dir, filepath.Base(full)))
		}
	}
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", fmt.Errorf("%q is outside the worktree %q", p, r.WorkTree)
	}
	return filepath.ToSlash(rel), nil
}

// DiffMatching lists the paths that differ between two trees and that pathspecs match,
// as they are typed where the user is.
func (r *Repo) DiffMatching(ctx context.Context, a, b name.OID, specs []string) (map[string]bool, error) {
	args := []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-relative", string(a), string(b), "--"}
	out, err := r.Run(ctx, Cmd{Args: append(args, specs...), Dir: filepath.Join(r.WorkTree, filepath.FromSlash(r.Prefix))})
	if err != nil {
		return nil, fmt.Errorf("match paths: %w", err)
	}
	matched := map[string]bool{}
	for p := range strings.SplitSeq(string(out.Stdout), "\x00") {
		matched[p] = true
	}
	return matched, nil
}

// HeadMove says where HEAD goes.
type HeadMove struct {
	Branch name.Ref // empty: HEAD is detached
	To     name.OID
	Old    name.OID // what the branch, or a detached HEAD, must be at; empty: anything
	Reason string   // for the reflog
}

// MoveHead puts HEAD on a branch or detaches it, at a commit, with reflog entries
// and ORIG_HEAD as git itself writes them.
func (r *Repo) MoveHead(ctx context.Context, m HeadMove) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx = context.WithoutCancel(ctx) // these are few moments, and half of them would be worse
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
	args = append(args, ref, string(m.To))
	if m.Old != "" {
		args = append(args, string(m.Old))
	}
	if err := run("move "+ref, args...); err != nil || m.Branch == "" {
		return err
	}
	if now, err := r.Output(ctx, "symbolic-ref", "-q", "HEAD"); err == nil && now == ref {
		return nil
	}
	return run("switch to "+ref, "symbolic-ref", "-m", message, "HEAD", ref)
}
