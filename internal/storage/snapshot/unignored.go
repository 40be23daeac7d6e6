package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
func (s *Shot) Unignored(ctx context.Context, p *Plan) ([]Unignored, error) {
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
func (s *Shot) ignoredNow(ctx context.Context, flags ...string) ([]string, error) {
	args := append([]string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard"}, flags...)
	res, err := s.repo.Run(ctx, git.Cmd{Args: args, Config: s.config, Dir: s.tree.top})
	if err != nil {
		return nil, fmt.Errorf("list ignored files: %w", err)
	}
	list := splitPaths(res.Stdout)
	slices.Sort(list)
	return list, nil
}
