package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// Unignored is a file, or a directory with a final slash and the number of files in it, that no
// rule ignores any more after a restore.
type Unignored struct {
	Path  string
	Files int // 0 for a file
}

// Unignored returns what is ignored now and will not be after the restore, because it changes files
// with ignore rules. It costs nothing if the plan changes none.
func (s *Worktree) Unignored(ctx context.Context, p *Plan) ([]Unignored, error) {
	files, changed := s.ruleFiles(), map[string]bool{}
	for _, o := range p.Ops {
		if files.has(o.Path) {
			changed[o.Path] = true
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	// The first list has a directory in place of its files if everything in it is ignored.
	groups, err := s.ignoredNow(ctx, "--directory")
	if err != nil {
		return nil, err
	}
	all, err := s.ignoredNow(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(q string) bool { return strings.HasSuffix(q, "/") }) // another repository
	still, err := s.ignoredBy(ctx, files, func(file string) ([]byte, error) {
		if changed[file] {
			return s.ruleIn(ctx, p.Target.Tree, file)
		}
		data, _, err := s.ruleOnDisk(file)
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
			out = append(out, Unignored{g, n})
		} else if n > 0 {
			out = append(out, Unignored{Path: g})
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

// ignoredNow lists the untracked files that are ignored now, sorted.
func (s *Worktree) ignoredNow(ctx context.Context, flags ...string) ([]string, error) {
	args := append([]string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard"}, flags...)
	res, err := s.repo.Run(ctx, git.Cmd{Args: args, Config: s.config, Dir: s.files.top})
	if err != nil {
		return nil, fmt.Errorf("list ignored files: %w", err)
	}
	list := splitPaths(res.Stdout)
	slices.Sort(list)
	return list, nil
}

// Before is what the last checkpoint says of ignored files: its tree has its rules, and Left are the files
// that it left out because they were ignored until then.
type Before struct {
	Tree name.OID
	Left []string
}

// chooseUnignored finds the untracked files that were ignored at the last checkpoint. It lists them in c,
// and returns the files to capture: without these if the rules say so.
func (s *Worktree) chooseUnignored(ctx context.Context, rules Rules, untracked []string, c *Capture) ([]string, error) {
	if rules.Before == nil || len(untracked) == 0 {
		return untracked, nil
	}
	before := rules.Before()
	if before.Tree == "" {
		return untracked, nil
	}
	then := func(file string) ([]byte, error) { return s.ruleIn(ctx, before.Tree, file) }
	files, left, ask := s.ruleFiles(), setOf(before.Left), []string(nil)
	differ, err := s.rulesDiffer(files, then, untracked)
	if err != nil {
		return nil, err
	}
	for _, p := range untracked {
		if !differ && !left[p] {
			continue
		}
		if _, had, err := s.repo.Lookup(ctx, before.Tree, p); err != nil {
			return nil, err
		} else if !had || left[p] {
			ask = append(ask, p)
		}
	}
	ignored, err := s.ignoredBy(ctx, files, then, slices.DeleteFunc(slices.Clone(ask), func(p string) bool { return left[p] }))
	if err != nil {
		return nil, err
	}
	for _, p := range ask {
		switch {
		case !ignored[p] && !left[p]:
		case rules.LeaveUnignored:
			c.Skipped = append(c.Skipped, Skip{Path: p, Reason: ReasonUnignored})
		default:
			c.Unignored = append(c.Unignored, p)
		}
	}
	if !rules.LeaveUnignored {
		return untracked, nil
	}
	asked := setOf(ask)
	return slices.DeleteFunc(slices.Clone(untracked), func(p string) bool { return asked[p] && (ignored[p] || left[p]) }), nil
}

// rulesDiffer reports whether a file with ignore rules that apply to any of paths is not on the disk as it
// was then.
func (s *Worktree) rulesDiffer(files ruleFiles, then ruleSource, paths []string) (bool, error) {
	dirs := map[string]bool{}
	for _, p := range paths {
		addAbove(dirs, p)
	}
	var all []string
	for d := range dirs {
		all = append(all, path.Join(d, ".gitignore"))
	}
	if files.excludes != "" {
		all = append(all, files.excludes)
	}
	for _, file := range all {
		was, err := then(file)
		if err != nil {
			return false, err
		}
		now, _, err := s.ruleOnDisk(file)
		if err != nil || !bytes.Equal(was, now) {
			return true, err
		}
	}
	return false, nil
}
