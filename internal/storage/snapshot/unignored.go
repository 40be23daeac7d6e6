package snapshot

import (
	"context"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// Unignored is a file, or a directory with a final slash and the number of files in it, that no
// rule ignores any more after a restore.
type Unignored struct {
	Path  record.Path `json:"path"`
	Files int         `json:"files,omitempty"` // 0 for a file
}

// Unignored returns what is ignored now and will not be after the restore, because it changes files
// with ignore rules. It costs nothing if the plan changes none.
func (s *planner) Unignored(ctx context.Context, p *Plan) ([]Unignored, error) {
	files, changed := s.rules.ruleFiles(), map[string]bool{}
	for _, o := range p.Ops {
		if files.has(o.Path) {
			changed[o.Path] = true
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	// The first list has a directory in place of its files if everything in it is ignored.
	groups, err := s.rules.ignoredNow(ctx, "--directory")
	if err != nil {
		return nil, err
	}
	all, err := s.rules.ignoredNow(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(q string) bool { return strings.HasSuffix(q, "/") }) // another repository
	still, err := s.rules.ignoredBy(ctx, files, func(file string) ([]byte, error) {
		if changed[file] {
			return s.rules.ruleIn(ctx, p.Target.Tree, file)
		}
		data, _, err := s.rules.ruleOnDisk(file)
		return data, err
	}, all)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, q := range all {
		if !still[q] {
			counts[groupOf(groups, q)]++
		}
	}
	var out []Unignored
	for _, g := range groups {
		if n := counts[g]; n > 0 && strings.HasSuffix(g, "/") {
			out = append(out, Unignored{record.Path(g), n})
		} else if n > 0 {
			out = append(out, Unignored{Path: record.Path(g)})
		}
	}
	return out, nil
}

// groupOf returns the directory in groups that q is in, or q itself. groups are sorted.
func groupOf(groups []string, q string) string {
	for i, c := range q {
		if c == '/' {
			if _, found := slices.BinarySearch(groups, q[:i+1]); found {
				return q[:i+1]
			}
		}
	}
	return q
}

// Before is what the last checkpoints say of ignored files.
type Before struct {
	// Trees hold the rules: of the last safety checkpoint if it is the newest, because a rollback may
	// take rules away, and of the newest other checkpoint. What the last of them holds was taken knowingly.
	Trees   []name.OID
	Outside string   // the rules outside of any tree as they were at the last checkpoint; see Capture.Outside
	Left    []string // the files that were left out because they were ignored until then
}

// chooseUnignored finds the untracked files that were ignored at the last checkpoint whose rules can be
// read. It lists them in c, and returns the files to capture: without these if the rules say so.
func (s *chooser) chooseUnignored(ctx context.Context, rules Rules, untracked []string, c *Capture) (_ []string, err error) {
	if rules.Before == nil {
		return untracked, nil
	}
	now, err := s.rules.outsideRules(ctx)
	if c.Outside = &now; err != nil || len(untracked) == 0 {
		return untracked, err
	}
	for lost := map[name.OID]bool{}; ; {
		before := rules.Before(lost)
		left, err := s.ignoredBefore(ctx, before, now, untracked)
		if !Damaged(err) || len(before.Trees) == 0 {
			return c.chosen(rules, untracked, left), err
		}
		for _, tree := range before.Trees {
			lost[tree] = true
		}
	}
}

// ignoredBefore returns those of the untracked files that were ignored, or left out for that, when the
// rules outside of any tree are now as given.
func (s *chooser) ignoredBefore(ctx context.Context, before Before, now string, untracked []string) (_ map[string]bool, err error) {
	if len(before.Trees) == 0 {
		return nil, nil
	}
	left, ask := gather.SetOf(before.Left), []string(nil)
	differ := before.Outside != now
	for _, tree := range before.Trees {
		if differ = differ || err != nil; !differ {
			differ, err = s.rules.rulesDiffer(ctx, tree, untracked)
		}
	}
	if err != nil {
		return nil, err
	}
	for _, p := range untracked {
		if !differ && !left[p] {
			continue
		}
		if _, had, err := s.repo.Trees.Lookup(ctx, before.Trees[len(before.Trees)-1], p); err != nil {
			return nil, err
		} else if !had || left[p] {
			ask = append(ask, p)
		}
	}
	if differ {
		for _, tree := range before.Trees {
			ignored, err := s.rules.ignoredIn(ctx, func(file string) ([]byte, error) { return s.rules.ruleIn(ctx, tree, file) }, before.Outside, ask)
			if err != nil {
				return nil, err
			}
			maps.Copy(left, ignored)
		}
	}
	return left, nil
}

// chosen lists those of the untracked files that were ignored in c, and returns the files to capture.
func (c *Capture) chosen(rules Rules, untracked []string, ignored map[string]bool) []string {
	kept := make([]string, 0, len(untracked))
	for _, p := range untracked {
		switch {
		case !ignored[p]:
		case rules.LeaveUnignored:
			c.Skipped = append(c.Skipped, Skip{Path: p, Reason: ReasonUnignored})
			continue
		default:
			c.Unignored = append(c.Unignored, p)
		}
		kept = append(kept, p)
	}
	return kept
}

// LeaveOut takes files that are no longer ignored out of a capture, as if a rule had left them out.
func (s *capturer) LeaveOut(ctx context.Context, c *Capture, paths []string) (err error) {
	edits := map[string]git.Entry{}
	for _, p := range paths {
		edits[p] = git.Entry{}
		c.Skipped = append(c.Skipped, Skip{Path: p, Reason: ReasonUnignored})
		delete(c.Raw, p)
		delete(c.Modes, p)
	}
	in := gather.SetOf(paths)
	c.AtRisk = slices.DeleteFunc(c.AtRisk, func(sk Skip) bool { return in[sk.Path] })
	c.Tree, err = s.repo.Trees.Edit(ctx, c.Tree, edits)
	return err
}
