package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// findCollisions looks at each path of the plan and, for a file to write, at its parents.
// Anything there that the capture does not hold would be lost, so it becomes a Collision. It also
// fills p.seen.
func (s *planner) findCollisions(ctx context.Context, p *Plan, _ []git.Change) error {
	f := &finder{shot: s, near: s.files.Hold(), plan: p, going: map[string]bool{}, dirs: map[string]bool{}, found: map[string]bool{}, there: map[string]string{}, locks: map[string]string{}}
	for _, o := range p.Ops {
		if o.Old.Mode != 0 {
			f.going[o.Path] = true
		}
	}
	defer f.near.Close()
	for _, o := range p.Ops {
		err := f.parents(o)
		if err == nil {
			err = f.checkPath(o)
		}
		f.locked(o)
		if err != nil {
			return err
		}
	}
	return f.markIgnored(ctx)
}

// finder carries the state of findCollisions.
type finder struct {
	shot  *planner
	near  *worktree.Held
	plan  *Plan
	going map[string]bool   // paths that the plan replaces or deletes
	dirs  map[string]bool   // parents that were checked already
	found map[string]bool   // paths that are in Plan.Collisions or Plan.Locked
	there map[string]string // what nearest said of directories
	locks map[string]string // what LockOf said of directories
}

// add records a collision once.
func (f *finder) add(p, reason string) {
	if !f.found[p] {
		f.found[p] = true
		f.plan.Collisions = append(f.plan.Collisions, Collision{Path: p, Reason: reason})
	}
}

// parents checks the directories above a path. A file in the place of a directory to write into is
// in the way unless the plan deletes it. A repository in between owns everything below it,
// including what the index tracks there: if it were deleted, an undo could not write it again.
func (f *finder) parents(o Op) error {
	parts := strings.Split(o.Path, "/")
	for i := 1; i < len(parts); i++ {
		dir := strings.Join(parts[:i], "/")
		if f.dirs[dir] {
			continue
		}
		info, err := f.shot.files.Lstat(dir)
		if err != nil {
			return fmt.Errorf("look at %q: %w", dir, err)
		}
		// A file above a path to delete says nothing about a path to write.
		f.dirs[dir] = info == nil || info.IsDir() || o.New.Mode != 0
		switch {
		case info == nil:
			return nil
		case !info.IsDir():
			if !f.going[dir] && o.New.Mode != 0 {
				f.add(dir, "is in the way of a directory")
			}
			return nil
		}
		if nested, err := f.shot.files.NestedAt(dir); err != nil || nested {
			f.add(dir, ReasonNested)
			return nil //nolint:nilerr // what cannot be looked into is in the way
		}
	}
	return nil
}

// checkPath checks the path itself. A file that the capture has is replaced without further checks.
func (f *finder) checkPath(o Op) error {
	info, err := f.near.Lstat(o.Path)
	if err != nil {
		return fmt.Errorf("look at %q: %w", o.Path, err)
	}
	f.plan.seen[o.Path] = info
	switch {
	case info == nil:
		return nil
	case info.IsDir():
		if o.New.Mode == 0 {
			return nil // a directory took its place, so the file is gone already
		}
		f.walk(f.shot.files.Spelling(o.Path))
		return nil
	case o.Old.Mode == 0 && f.going[f.shot.files.Spelling(o.Path)]:
		f.plan.seen[o.Path] = nil // it goes under the other spelling first
	case o.Old.Mode == 0 && f.plan.databases[o.Path] != "" && f.shot.isIdle(o.Path): // it is worth nothing
	case o.Old.Mode == 0:
		f.add(o.Path, "exists and is not captured")
	}
	return nil
}

// locked records what the system would not let this process change, so that the plan reports it and
// the rollback does not fail half-way: a path in a directory without write permission, and what
// `chattr +i` or `chattr +a` holds.
func (f *finder) locked(o Op) {
	info := f.plan.seen[o.Path]
	if o.New.Mode == 0 && (info == nil || info.IsDir()) {
		return // it is gone already
	}
	dir := f.nearest(path.Dir(o.Path))
	reason, known := f.locks[dir]
	if !known && o.kind() != OpMode {
		reason = f.shot.files.LockOf(dir)
		f.locks[dir] = reason
	}
	at := dir + "/"
	if reason == "" && info != nil {
		at, reason = o.Path, f.near.HeldBy(o.Path)
	}
	if reason != "" && !f.found[at] {
		f.found[at] = true
		f.plan.Locked = append(f.plan.Locked, Skip{Path: at, Reason: reason})
	}
}

// nearest returns a directory, or the nearest one above it that is there. Each is looked at once:
// thousands of missing files have the same missing directories above them.
func (f *finder) nearest(dir string) string {
	if known, is := f.there[dir]; is || dir == "." {
		return cmp.Or(known, dir)
	}
	above := path.Dir(dir)
	found := f.nearest(above)
	if found == above { // else it cannot be there, and each look at a deep one would look at all above it
		if info, err := f.shot.files.Lstat(dir); err == nil && info != nil && info.IsDir() {
			found = dir
		}
	}
	f.there[dir] = found
	return found
}

// walk checks a directory in whose place a file is to be written. The plan must delete everything
// in it.
func (f *finder) walk(dir string) {
	if f.shot.files.IsGit(dir) {
		f.add(dir, "is the git directory")
		return
	}
	entries, err := f.shot.files.ReadDir(dir)
	if err != nil {
		f.add(dir, ReasonUnreadable)
		return
	}
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		switch {
		case e.Name() == ".git" && !f.shot.files.IsGit(p):
			f.add(dir, ReasonNested)
		case e.IsDir():
			f.walk(p)
		case !f.going[p]:
			f.add(p, "exists and is not captured")
		}
	}
}

// markIgnored marks the collisions that the current ignore rules match. The caller can capture
// these with Rules.Force and plan again.
func (f *finder) markIgnored(ctx context.Context) error {
	var paths []string
	for _, c := range f.plan.Collisions {
		if c.Reason == "exists and is not captured" || c.Reason == "is in the way of a directory" {
			paths = append(paths, c.Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	ignored, err := Ignored(ctx, f.shot.repo, f.shot.config, paths)
	if err != nil {
		return err
	}
	for i := range f.plan.Collisions {
		c := &f.plan.Collisions[i]
		switch {
		case ignored[c.Path]:
			c.Ignored, c.Reason = true, "ignored, not captured"
			at := slices.IndexFunc(f.plan.Ops, func(o Op) bool { return o.Path == c.Path && o.New.Mode != 0 })
			c.Same = at >= 0 && f.shot.holds(c.Path, f.plan.Ops[at].New, f.plan.Ops[at].NewRaw)
		case f.shot.trackedOnly && c.Reason == "exists and is not captured":
			c.Ignored, c.Reason = true, "untracked, not captured"
		}
	}
	return nil
}
