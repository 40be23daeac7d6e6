package torture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"
)

// Options say what to run.
type Options struct {
	Program string // path of the built git-checkpoint
	// Where cases are executed; empty: the system's temporary directory.
	Dir string
	// Kinds are the kinds of worlds to use; empty: all.
	Kinds []string
	// Settings of git for all cases, as section.key=value.
	Config []string
	Seed   uint64
	// Number of cases, of all kinds together.
	Cases int
	// Number of findings after which to stop; 0: 1.
	Most int
	Log  io.Writer // progress and failures, for people
}

// Report says what was run and found.
type Report struct {
	// By kind: how often each command was carried out or refused.
	Ran      map[string]int
	Done     map[string]map[string]int // by kind: how often each command was carried out, or refused
	Findings []*Finding                // reduced cases
	Took     time.Duration
}

// Run executes cases: the kinds in turn, each with one seed after the other.
func Run(ctx context.Context, o Options) (*Report, error) {
	began := time.Now()
	if len(o.Kinds) == 0 {
		o.Kinds = Kinds()
	}
	report := &Report{Ran: map[string]int{}, Done: map[string]map[string]int{}}
	for i := range o.Cases {
		// The kinds alternate, and each round uses the next seed.
		name, seed := o.Kinds[i%len(o.Kinds)], o.Seed+uint64(i/len(o.Kinds))
		cs, err := Draw(name, seed)
		if err != nil {
			return report, err
		}
		cs.Config = o.Config
		if report.Done[name] == nil {
			report.Done[name] = map[string]int{}
		}
		found, err := o.try(ctx, cs, report.Done[name])
		if err != nil {
			return report, fmt.Errorf("%s, seed %d: %w", name, seed, err)
		}
		report.Ran[name]++
		if found == nil {
			continue
		}
		fmt.Fprintf(o.Log, "FAIL %s, seed %d, step %d: %s\n", name, seed, found.Step, found.What)
		// A failure is worth more when it is small, so remove what does not contribute to
		// it.
		found = shrink(found, func(c *Case) *Finding {
			f, err := o.try(ctx, c, map[string]int{})
			if err != nil {
				return nil //nolint:nilerr // a case that cannot be run is no smaller finding
			}
			return f
		})
		fmt.Fprintf(o.Log, "%s\n", found.Script())
		report.Findings = append(report.Findings, found)
		if len(report.Findings) >= max(1, o.Most) {
			break
		}
	}
	report.Took = time.Since(began)
	return report, ctx.Err()
}

// try executes a case in a directory of its own. It returns nil if no promise was broken.
func (o Options) try(ctx context.Context, cs *Case, tally map[string]int) (*Finding, error) {
	k, err := kindNamed(cs.Kind)
	if err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp(o.Dir, "torture-")
	if err != nil {
		return nil, err
	}
	defer remove(root)
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	err = execute(host{ctx, root, o.Program}, k, cs, tally)
	var found *Finding
	if errors.As(err, &found) {
		if found.Case == nil { // making the world failed, before the first step
			found.Case, found.Step = cs, -1
		}
		return found, nil
	}
	return nil, err
}

// remove deletes the directory of a case, as far as permissions allow.
func remove(root string) { os.RemoveAll(root) } //nolint:errcheck // under the directory for temporary files

// String returns a table of what was run.
func (r *Report) String() string {
	var names []string
	total := 0
	for name, n := range r.Ran {
		names = append(names, name)
		total += n
	}
	sort.Strings(names)
	out := fmt.Sprintf("%d cases in %v, %d findings\n", total, r.Took.Round(time.Second), len(r.Findings))
	for _, name := range names {
		d := r.Done[name]
		out += fmt.Sprintf("%8d  %-16s %5d create %5d rollback %5d undo %5d redo %5d refused\n", r.Ran[name], name, d["create"], d["rollback"], d["undo"], d["redo"], d["refused"])
		for _, word := range slices.Sorted(maps.Keys(d)) {
			if strings.HasPrefix(word, "recall ") {
				out += fmt.Sprintf("%8d  %s\n", d[word], word)
			}
		}
	}
	return out
}
