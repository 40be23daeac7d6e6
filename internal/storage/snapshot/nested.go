package snapshot

// Repositories inside the worktree: a capture records at which commit each is, and leaves its files
// to it.

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/lockfile"
	"git-checkpoint/internal/sys/mapped"
)

// gone records that a tracked file is gone, and the repository that may stand in its place. The
// scan does not find that one: git does not list a directory as untracked while the index has a
// file of that name.
func (s *chooser) gone(ctx context.Context, f candidate, c *Capture) error {
	c.edits[f.path] = git.Entry{}
	if !f.dir {
		return nil
	}
	if nested, err := s.files.NestedAt(f.path); err != nil || !nested {
		return err
	}
	return s.nested(ctx, f.path, c)
}

// nested records an untracked repository as a gitlink to its HEAD. Its files are not captured;
// they are the business of that repository. A linked worktree of this one has checkpoints of its own.
func (s *chooser) nested(ctx context.Context, dir string, c *Capture) error {
	if s.isLinked(dir) {
		return nil
	}
	if git.RefusedName(dir, false) {
		c.Skipped = append(c.Skipped, Skip{Path: dir + "/", Reason: ReasonName})
		return nil
	}
	reason, err := s.link(ctx, dir, c)
	if err == nil {
		c.Skipped = append(c.Skipped, Skip{Path: dir + "/", Reason: reason})
	}
	return err
}

// isLinked reports whether dir is a linked worktree of this repository: its .git file and git's note of
// it name each other.
func (s *chooser) isLinked(dir string) bool {
	at := filepath.Join(s.files.Abs(dir), ".git")
	data, err := mapped.Beginning(at, func(size int64) []byte { return make([]byte, min(size, 1<<16)) })
	admin, named := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if !filepath.IsAbs(admin) { // extensions.relativeWorktrees
		admin = filepath.Join(filepath.Dir(at), admin)
	}
	return err == nil && named && slices.ContainsFunc(s.repo.Linked(), func(w git.Linked) bool {
		return lockfile.Same(admin, w.Admin) && lockfile.Same(filepath.Join(w.Dir, ".git"), at)
	})
}

// link records the commit that a nested repository is at, if a tree here can name it. It returns
// the reason for which the files in it are left out.
func (s *chooser) link(ctx context.Context, dir string, c *Capture) (reason string, err error) {
	head, err := s.repo.HeadOf(ctx, s.files.Abs(dir))
	switch {
	case err != nil:
		return "", err
	case head == "":
		return ReasonUnborn, nil
	case len(head) != 2*s.repo.HashLen(): // SHA-1 and SHA-256
		return ReasonFormat, nil
	}
	c.edits[dir] = git.Entry{Mode: git.ModeGitlink, OID: head}
	return ReasonNested, nil
}

// submodule records the commit that a changed submodule is at. Changes inside the submodule are
// not captured, so the path is also listed as skipped.
func (s *chooser) submodule(ctx context.Context, t Tracked, c *Capture) error {
	info, err := s.files.Lstat(t.Path)
	if err != nil {
		return fmt.Errorf("look at %q: %w", t.Path, err)
	}
	if info == nil {
		c.edits[t.Path] = git.Entry{}
		return nil
	}
	if !info.IsDir() { // a file took the place of the submodule
		f, err := s.consider(s.files, t.Path, 0, Rules{MaxFileSize: 1 << 62}, c)
		if err != nil || f.mode == 0 {
			return err
		}
		return s.hash.hashOne(ctx, f, c)
	}
	if _, err := s.link(ctx, t.Path, c); err != nil {
		return err
	}
	c.Skipped = append(c.Skipped, Skip{Path: t.Path + "/", Reason: ReasonSubmodule})
	return nil
}

// becomeNested lists the gitlinks of the target in whose place a repository is now. Its files were
// captured one by one if the index has a file below the gitlink, because git then takes the
// directory for an ordinary one. They still belong to that repository.
func (s *planner) becomeNested(changes []git.Change) ([]string, error) {
	var out []string
	for _, c := range changes {
		if c.New.Mode != git.ModeGitlink {
			continue
		}
		nested, err := s.files.NestedAt(c.Path)
		if err != nil {
			return nil, fmt.Errorf("look at %q: %w", c.Path+"/.git", err)
		}
		if nested {
			out = append(out, c.Path)
		}
	}
	return out, nil
}

// leave leaves a path as it is, or says that it is in the way of what the target has there.
func (s *planner) leave(p *Plan, c git.Change) {
	if c.New.Mode != 0 && c.New.Mode != git.ModeGitlink && !s.holds(c.Path, c.New, p.Target.Raw[c.Path]) {
		p.blocked(c)
	} else {
		p.Kept = append(p.Kept, c.Path)
	}
}

// Refuse returns a HostileError if one of the new paths is one that a restore does not write.
func Refuse(changes []git.Change) error {
	for _, c := range changes {
		if c.New.Mode != 0 && git.RefusedName(c.Path, c.New.Mode == git.ModeSymlink) {
			return &HostileError{c.Path}
		}
	}
	return nil
}

// HostileError says that the target's tree has a path that git refuses. This program never
// captures such a path, so the checkpoint comes from elsewhere and may be an attack.
type HostileError struct{ Path string }

func (e *HostileError) Error() string {
	return fmt.Sprintf("the tree of the checkpoint contains %q, a name that git refuses", e.Path)
}
