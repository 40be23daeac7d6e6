package torture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"time"
)

// Options say what to run.
type Options struct {
	Program string // the built git-checkpoint
	Dir     string // where cases are made; empty: the system's directory for temporary files
	Kinds   []string
	Config  []string // settings of git's for all cases, as section.key=value
	Seed    uint64
	Cases   int       // of all kinds together
	Most    int       // findings after which to stop; 0: 1
	Log     io.Writer // what happens, for people
}

// Report says what ran.
type Report struct {
	Ran      map[string]int            // cases by kind
	Done     map[string]map[string]int // by kind: how often each command was carried out, or refused
	Findings []*Finding                // shrunk
	Took     time.Duration
}

// Run runs cases, kind after kind in turn, seed after seed.
func Run(ctx context.Context, o Options) (*Report, error) {
	began := time.Now()
	if len(o.Kinds) == 0 {
		o.Kinds = Kinds()
	}
	report := &Report{Ran: map[string]int{}, Done: map[string]map[string]int{}}
	for i := range o.Cases {
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

// try runs a case in a directory of its own.
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

// remove takes a case away, also what has no permissions or too long a name.
func remove(root string) { os.RemoveAll(root) } //nolint:errcheck // under the directory for temporary files

// String is a table of what ran.
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
	}
	return out
}
