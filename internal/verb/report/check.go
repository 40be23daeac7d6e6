package report

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/why"
)

// Gate holds the options of `report --check`.
type Gate struct {
	Range    string
	Checks   []string // conditions over the numbers in why.Counts
	Paths    []string // pathspecs, as typed; empty: all
	Progress func(int)
}

// Verdict is whether conditions hold for the lines that the commits of a range add.
type Verdict struct {
	Range  string     `json:"range"`
	Lines  why.Counts `json:"lines"`
	Checks []Check    `json:"checks"`
	// Named has the lines that the conditions that do not hold count, at most mostLines of them.
	Named []Counted `json:"named"`
	More  int       `json:"more"` // how many more there are
}

// Check is one of the conditions.
type Check struct {
	Check string `json:"check"`
	Holds bool   `json:"holds"`
}

// Counted is a line with its answer: held, outside or none; named only for a condition about these.
type Counted struct {
	Path    string   `json:"path"`
	Line    int      `json:"line"`
	Commit  name.OID `json:"commit"`
	Answer  string   `json:"answer"`
	Because string   `json:"because"`
}

// Holds reports whether all conditions do.
func (v *Verdict) Holds() bool {
	return !slices.ContainsFunc(v.Checks, func(c Check) bool { return !c.Holds })
}

// Judge counts the lines of a range, and says which conditions hold.
func Judge(ctx context.Context, s *checkpoint.Service, gate Gate) (*Verdict, error) {
	var conditions []*workflow.Numbers
	for _, text := range gate.Checks {
		c, err := workflow.OverNumbers(text, "lines", "named", "held", "outside", "none")
		if err != nil {
			return nil, checkpoint.Usage("write a condition over these numbers, such as 'none == 0'", "--check: %v", err)
		}
		conditions = append(conditions, c)
	}
	req := Request{Range: gate.Range}
	commits, err := commitsOf(ctx, s.Store, &req)
	if err != nil {
		return nil, err
	}
	gate.Range = req.Range
	wanted, err := pathsIn(ctx, s.Repo, gate)
	if err != nil {
		return nil, err
	}
	behind, err := why.Commits(ctx, s.Rules, commits, gate.Progress)
	if err != nil {
		return nil, err
	}
	out := &Verdict{Range: gate.Range, Named: []Counted{}}
	var lines []why.Line
	for _, c := range behind {
		for _, l := range c.Lines {
			if wanted == nil || wanted[l.Path] {
				out.Lines.Add(l)
				lines = append(lines, l)
			}
		}
	}
	if err := out.judge(gate.Checks, conditions, lines); err != nil {
		return nil, err
	}
	texts, err := clearance.OpenTexts(ctx, s)
	if err != nil {
		return nil, err
	}
	paths := gather.List(out.Named, func(l Counted) string { return l.Path })
	if err := texts.Clean(ctx, paths); err != nil {
		return nil, err
	}
	for i := range out.Named {
		out.Named[i].Path = paths[i]
	}
	return out, nil
}

// judge evaluates the conditions, and names the lines that those count that do not hold.
func (v *Verdict) judge(texts []string, conditions []*workflow.Numbers, lines []why.Line) error {
	const mostLines = 50 // how many lines a verdict names
	n := v.Lines
	of := map[string]int{"lines": n.Lines, "named": n.Named, "held": n.Held, "outside": n.Outside, "none": n.None}
	asked := map[string]bool{}
	for i, c := range conditions {
		holds, err := c.Holds(of)
		if err != nil {
			return checkpoint.Usage("", "--check: %v", err)
		}
		v.Checks = append(v.Checks, Check{texts[i], holds})
		for _, answer := range []string{"held", "outside", "none"} {
			asked[answer] = asked[answer] || !holds && (c.Asks(answer) || c.Asks("named") && !c.Asks("held") && !c.Asks("outside") && !c.Asks("none"))
		}
	}
	for _, l := range lines {
		answer := l.Answer()
		if !asked[answer] {
			continue
		}
		if len(v.Named) == mostLines {
			v.More++
			continue
		}
		v.Named = append(v.Named, Counted{l.Path, l.Line, l.Commit, answer, l.Claim().Because})
	}
	return nil
}

// pathsIn returns the paths that the commits of a range change and that are meant; nil: all. A path that is nowhere is
// refused: a gate that looks at nothing always holds.
func pathsIn(ctx context.Context, repo *git.Repo, gate Gate) (map[string]bool, error) {
	if len(gate.Paths) == 0 {
		return nil, nil
	}
	dir := filepath.Join(repo.WorkTree, filepath.FromSlash(repo.Prefix))
	found := map[string]bool{}
	for _, path := range gate.Paths {
		some := false
		for i, args := range [][]string{
			{"log", "-m", "--format=", "--name-only", "--no-renames", "--no-relative", "--no-ext-diff", "-z", "--end-of-options", gate.Range, "--", path},
			{"ls-files", "-z", "--full-name", "--", path},
		} {
			out, err := repo.Run(ctx, git.Cmd{Args: args, Dir: dir})
			if err != nil {
				return nil, checkpoint.Usage("", "%q is no path for git", name.Clip(path, name.Said))
			}
			for of := range strings.SplitSeq(string(out.Stdout), "\x00") {
				some = some || of != ""
				if i == 0 {
					found[strings.TrimPrefix(of, "\n")] = true
				}
			}
		}
		if !some {
			return nil, checkpoint.Failure(checkpoint.KindNotFound, "", "no file here, or in %s, is %q", name.Clip(gate.Range, name.Said), name.Clip(path, name.Said))
		}
	}
	return found, nil
}

// Words says in one line how many lines have which answer.
func (v *Verdict) Words() string {
	n := v.Lines
	return fmt.Sprintf("%s: %d named, %d held, %d outside, %d none", render.Count(n.Lines, "line", "lines"), n.Named, n.Held, n.Outside, n.None)
}
