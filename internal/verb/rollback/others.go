package rollback

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/inspect"
)

// Others is work that a rollback takes back although the session did not do it.
type Others struct {
	Who      string            `json:"who"` // outside, unknown, or the session that did it
	Paths    []checkpoint.Path `json:"paths"`
	Captured bool              `json:"captured"` // false: no checkpoint of the session has it yet

	Since string `json:"-"` // the step after which the first of it was made
}

// others returns the work of others among the files of a plan: what checkpoints after the target
// say, and what no checkpoint has yet. A session without agents has none: everything there is the
// session's own.
func (r *fileMoves) others(ctx context.Context, plan PlanFiles) ([]Others, error) {
	if r.Exact || r.Adds || r.To.Entry == nil || r.To.State.CurrentEntry() == nil {
		return nil, nil
	}
	var saved grouped
	agents, reached := false, false
	for e := range r.To.State.LineTo(r.To.State.CurrentEntry()) {
		if reached = e.Checkpoint == r.To.Entry.Checkpoint; reached {
			break
		}
		if e.Dead || e.Safety {
			continue
		}
		step, err := author.StepOf(ctx, r.s.Store, r.To.State, e)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue // a damaged record says nothing
		}
		agents = agents || step.Agent() != ""
		for _, path := range step.Paths() {
			saved.add(step.Base, step.Who(path), path)
		}
	}
	unsaved, err := r.uncaptured(ctx)
	if err != nil || !agents || !reached {
		return nil, err
	}
	all := saved.inPlan(plan)
	for i := range all {
		all[i].Captured = true
	}
	return append(all, unsaved.inPlan(plan)...), nil
}

// uncaptured returns who made what the session's current checkpoint does not have yet.
func (r *fileMoves) uncaptured(ctx context.Context) (all grouped, err error) {
	current := r.To.State.CurrentEntry()
	rec, err := checkpoint.ReadRecord(ctx, r.s.Store, current)
	if err != nil {
		return nil, nil //nolint:nilerr // then it is not known what changed
	}
	changes, err := r.s.Repo.Trees.Diff(ctx, rec.Snapshot.Tree, r.cur.Tree)
	if err != nil {
		return nil, err
	}
	for path, who := range author.MakersNow(ctx, r.s.Repo, r.To.State.Session, changes) {
		all.add(current, who, record.Path(path))
	}
	return all, nil
}

// grouped collects work by who did it.
type grouped []Others

func (g *grouped) add(since *journal.Entry, who author.Who, path record.Path) {
	by := who.Other()
	if by == "" {
		return
	}
	i := slices.IndexFunc(*g, func(o Others) bool { return o.Who == by })
	if i < 0 {
		*g = append(*g, Others{Who: by})
		i = len(*g) - 1
	}
	o := &(*g)[i]
	o.Paths = append(o.Paths, path)
	if since != nil {
		o.Since = strconv.Itoa(since.Step)
	}
}

// inPlan returns the groups with the paths that are in the plan.
func (g grouped) inPlan(plan PlanFiles) []Others {
	planned := gather.SetOf(slices.Concat(plan.Write, plan.Delete, plan.Mode))
	var kept []Others
	for _, o := range g {
		slices.Sort(o.Paths)
		o.Paths = slices.DeleteFunc(slices.Compact(o.Paths), func(p checkpoint.Path) bool { return !planned[p] })
		if len(o.Paths) > 0 {
			kept = append(kept, o)
		}
	}
	return kept
}

// leftOut lists what the checkpoint left out, and what changed in nested repositories, so that
// nobody believes that these were restored.
func (r *fileMoves) leftOut(ctx context.Context) ([]inspect.LeftOut, error) {
	if r.Adds || r.FilesStay || r.record.Snapshot.Tree == "" {
		return nil, nil
	}
	shot, err := r.s.Worktree()
	if err != nil {
		return nil, err
	}
	list := inspect.LeftOutOf(r.s.Settings, r.record, shot.Sight)
	moved, err := inspect.MovedInside(ctx, r.s.Repo, r.record, r.cur)
	if err != nil {
		return nil, err
	}
	for _, m := range moved {
		is := func(path checkpoint.Path) bool { return strings.TrimSuffix(string(path), "/") == string(m.Path) }
		if at := slices.IndexFunc(list, func(l inspect.LeftOut) bool { return is(l.Path) }); at >= 0 {
			list[at].Changed = !list[at].Deleted
			continue
		}
		l := inspect.LeftOut{Path: m.Path + "/", Reason: "submodule", Changed: true}
		if at := slices.IndexFunc(r.cur.Skipped, func(sk snapshot.Skip) bool { return is(checkpoint.Path(sk.Path)) }); at >= 0 {
			l.Reason = r.cur.Skipped[at].Reason
		}
		list = append(list, l)
	}
	only := r.plan.Scope.Only
	return slices.DeleteFunc(list, func(l inspect.LeftOut) bool {
		return only != nil && !only(strings.TrimSuffix(string(l.Path), "/"))
	}), nil
}
