package snapshot

// Ignore rules can differ between the two sides of a restore. A file that the target's rules
// ignore and the current ones do not was captured now but not then, so it looks like a file that
// was made since and is to be deleted. The same is true of an ignored file that was captured on
// request. Both may be older than the target, so a restore leaves them alone (keepIgnored). git
// evaluates the rules of each side, in a scratch worktree that has only the files with rules.

import (
	"context"
	"maps"
	"slices"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// keepIgnored takes deletions out of the plan: of files that no index tracks and that are ignored
// by the present rules or by those of the target. Files in Target.Wrote are still deleted if they
// have the content that the rollback wrote. changes are the differences between the two trees.
func (s *planner) keepIgnored(ctx context.Context, p *Plan, changes []git.Change) error {
	files := s.rules.ruleFiles()
	differ := slices.ContainsFunc(changes, func(c git.Change) bool { return files.has(c.Path) })
	forced := gather.SetOf(slices.Concat(p.Cur.Ignored, p.Cur.forced))
	var now, then []string // paths to look up in the rules of each side
	for _, o := range p.Ops {
		if base := p.databases[o.Path]; base != "" && base != o.Path {
			continue // as its database
		}
		if o.kind() != OpDelete || o.Old.OID == p.Target.Wrote[o.Path] || !differ && !forced[o.Path] {
			continue
		}
		if tracked, err := s.rules.tracked(ctx, o.Path, &p.Cur.Index, p.Target.Index); err != nil {
			return err
		} else if tracked {
			continue
		}
		if differ {
			then = append(then, o.Path)
		}
		// A file that was not forced was captured because no rule matches it now.
		if forced[o.Path] {
			now = append(now, o.Path)
		}
	}
	ignored, err := s.rules.ignoredBy(ctx, files, s.rules.rulesNow(ctx, p), now)
	if err != nil {
		return err
	}
	more, err := s.rules.ignoredBy(ctx, files, s.rules.rulesThen(ctx, p), then)
	if err != nil {
		return err
	}
	maps.Copy(ignored, more)
	for _, o := range p.Ops {
		if base := p.databases[o.Path]; ignored[base] {
			ignored[o.Path] = true
		}
	}
	p.spare(ignored, forced)
	return nil
}

// spare removes the deletions of ignored files from the plan and lists them as kept. A file that
// stands where the target has a directory, or below where the target has a file, cannot stay. It
// is a collision, unless forced says that the caller captured it in order to replace it.
func (p *Plan) spare(ignored, forced map[string]bool) {
	const reasonRules = "ignored by the rules of one side" // why an ignored file is a collision although it was captured
	if len(ignored) == 0 {
		return
	}
	written, parents := map[string]bool{}, map[string]bool{}
	for _, o := range p.Ops {
		if o.New.Mode != 0 {
			written[o.Path] = true
			worktree.AddAbove(parents, o.Path)
		}
	}
	inTheWay := func(q string) bool {
		for d := range worktree.ParentsOf(q) {
			if written[d] {
				return true
			}
		}
		return parents[q]
	}
	p.Ops = slices.DeleteFunc(p.Ops, func(o Op) bool {
		if !ignored[o.Path] || o.New.Mode != 0 {
			return false
		}
		if !inTheWay(o.Path) {
			p.Kept = append(p.Kept, o.Path)
			return true
		}
		if !forced[o.Path] {
			p.Collisions = append(p.Collisions, Collision{Path: o.Path, Reason: reasonRules, Ignored: true})
		}
		return false
	})
	slices.Sort(p.Kept)
}

// Made returns the files that the plan creates, that no index will track, and that the ignore
// rules of either side match, with their blobs. The safety checkpoint stores the list, and an
// undo passes it as Target.Wrote. In a restore of some paths only, an undo could not tell these
// files from ignored files that were there before. Where only tracked files are captured, it returns
// all that no index will track.
func (s *planner) Made(ctx context.Context, p *Plan) (map[string]name.OID, error) {
	index := p.Index
	if index == nil {
		index = &p.Cur.Index
	} else {
		index = &IndexState{Tree: p.IndexTree, Unmerged: index.Unmerged, IntentToAdd: index.IntentToAdd}
	}
	content := map[string]name.OID{}
	var made []string
	for _, o := range p.Ops {
		if o.Old.Mode != 0 || o.New.Mode == 0 {
			continue
		}
		if tracked, err := s.rules.tracked(ctx, o.Path, index); err != nil {
			return nil, err
		} else if !tracked {
			content[o.Path] = o.New.OID
			made = append(made, o.Path)
		}
	}
	if s.trackedOnly {
		return content, nil // no capture looks for them
	}
	files, out := s.rules.ruleFiles(), map[string]name.OID{}
	for _, rules := range []ruleSource{s.rules.rulesNow(ctx, p), s.rules.rulesThen(ctx, p)} {
		ignored, err := s.rules.ignoredBy(ctx, files, rules, made)
		if err != nil {
			return nil, err
		}
		for q := range ignored {
			out[q] = content[q]
		}
	}
	return out, nil
}
