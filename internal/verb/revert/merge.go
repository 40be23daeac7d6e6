package revert

import (
	"context"
	"maps"
	"slices"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/threeway"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/rollback"
)

// merge returns the files that the worktree should have afterwards. now is what it has, t the current
// checkpoint.
func (r *reverting) merge(ctx context.Context, now *snapshot.Capture, t snapshot.Target) (snapshot.Target, error) {
	ours := threeway.Side{Tree: now.Tree, Raw: now.Raw, Modes: now.Modes}
	since, err := r.unsaved(ctx, ours, threeway.SideOf(t))
	if err != nil {
		return t, err
	}
	diffs := r.diffs
	if r.rest {
		diffs = slices.Concat([]*difference{since.taken}, diffs)
	}
	sets := joined(diffs, nil)
	over := r.overwritten(now, sets)
	if ours.Tree, err = r.s.Repo.Trees.Edit(ctx, ours.Tree, over); err != nil {
		return t, err
	}
	merged, outcomes, err := r.undone(ctx, ours, diffs, sets)
	if apart := conflictsOf(outcomes); err == nil && len(apart) > 0 {
		// One of several steps may have been taken back already. The others are undone one by one then.
		side, each, eachErr := r.undone(ctx, ours, diffs, joined(diffs, apart))
		if len(conflictsOf(each)) < len(apart) {
			merged, outcomes, err = side, each, eachErr
		}
	}
	if err != nil {
		return t, err
	}
	if merged.Tree, err = r.spared(ctx, now.Tree, merged.Tree, over, outcomes); err != nil {
		return t, err
	}
	if len(r.req.Paths) > 0 && len(outcomes)+len(r.said.Left) == 0 {
		return t, checkpoint.Usage("a path must be a file or directory, not a pattern", "%s changed none of these paths", r.what)
	}
	with, err := r.others(ctx, outcomes, since)
	if err != nil {
		return t, err
	}
	r.done = r.outcome(diffs, outcomes, with)
	return merged.Target(t), nil
}

// outcome says what becomes of the files, with who else changed them, and of which steps anything is left to take back.
func (r *reverting) outcome(diffs []*difference, outcomes []threeway.Outcome, with map[string][]string) *rollback.Reverted {
	done, during := r.said, map[string]bool{}
	left := map[name.ID]bool{} // the checkpoints of which anything is taken back
	for _, d := range diffs {
		maps.Copy(during, d.during)
		if d.found != nil {
			left[d.found.Entry.Checkpoint] = r.inState(d) || slices.ContainsFunc(d.changes, func(c threeway.Change) bool {
				return !slices.ContainsFunc(outcomes, func(o threeway.Outcome) bool { return o.Path == c.Path && o.How == threeway.Same })
			})
		}
	}
	done.Steps = slices.Clone(r.said.Steps)
	for i := range done.Steps {
		done.Steps[i].Spent = !left[done.Steps[i].ID]
	}
	done.Files = []rollback.RevertedFile{}
	for _, o := range outcomes {
		f := rollback.RevertedFile{Path: checkpoint.Path(o.Path), How: o.How, With: []string{}, During: during[o.Path], Why: o.Why, Marked: o.Marked}
		if o.How == threeway.Merged || o.How == threeway.Conflict {
			for _, who := range slices.Concat(with[o.Path], with[o.Also]) {
				if !slices.Contains(f.With, who) {
					f.With = append(f.With, who)
				}
			}
			if len(f.With) == 0 {
				f.With = append(f.With, Unknown)
			}
		}
		done.Files = append(done.Files, f)
	}
	return &done
}

// undone applies the changes of the differences to the files that are here.
func (r *reverting) undone(ctx context.Context, ours threeway.Side, diffs []*difference, sets [][]threeway.Change) (merged threeway.Side, outcomes []threeway.Outcome, err error) {
	m := threeway.Begin(r.s.Repo, ours, r.req.Conflicts)
	for i, changes := range sets {
		m.Theirs = append(m.Theirs, diffs[i].before)
		if err := m.Apply(ctx, diffs[i].after.Tree, changes); err != nil {
			return merged, nil, err
		}
	}
	merged, err = m.Done(ctx)
	return merged, m.Outcomes(), err
}

// conflictsOf returns the paths with a conflict.
func conflictsOf(outcomes []threeway.Outcome) (paths []string) {
	return gather.List(gather.Those(outcomes, func(o threeway.Outcome) bool { return o.How == threeway.Conflict }), func(o threeway.Outcome) string { return o.Path })
}

// overwritten returns the ignored files, each with an empty entry, that are in the way of files
// that come back, and that were captured because the user lets them be overwritten. They do not
// count as somebody's change to these.
func (r *reverting) overwritten(now *snapshot.Capture, sets [][]threeway.Change) map[string]git.Entry {
	over := map[string]git.Entry{}
	for _, changes := range sets {
		for _, c := range changes {
			if r.req.OverwriteIgnored && c.From.Entry.Mode == 0 && slices.Contains(now.Ignored, c.Path) && !slices.Contains(r.ignored, c.Path) {
				over[c.Path] = git.Entry{}
			}
		}
	}
	return over
}

// spared puts those of the overwritten files back into the tree whose place nothing takes.
func (r *reverting) spared(ctx context.Context, now, tree name.OID, over map[string]git.Entry, outcomes []threeway.Outcome) (name.OID, error) {
	back := map[string]git.Entry{}
	for _, o := range outcomes {
		if _, is := over[o.Path]; !is || o.How == threeway.Restored {
			continue
		}
		e, _, err := r.s.Repo.Trees.Lookup(ctx, now, o.Path)
		if err != nil {
			return "", err
		}
		back[o.Path] = e
	}
	return r.s.Repo.Trees.Edit(ctx, tree, back)
}

// joined returns the changes to apply for each difference. The changes of a path that follow each other,
// so that nobody else changed it in between, are joined: they are undone in one step, except for the paths that are to stay apart.
func joined(diffs []*difference, apart []string) [][]threeway.Change {
	sets := make([][]threeway.Change, len(diffs))
	last := map[string]*threeway.Change{}
	for i, d := range diffs {
		sets[i] = slices.Clone(d.changes)
		back := slices.ContainsFunc(sets[i], func(c threeway.Change) bool { return c.From == (threeway.Version{}) })
		for j := range sets[i] {
			c := &sets[i][j]
			// What may be a rename stays together.
			if newer := last[c.Path]; newer != nil && newer.To.Same(c.From) && !slices.Contains(apart, c.Path) && !(back && c.To == (threeway.Version{})) {
				newer.To, newer.Called.Theirs = c.To, c.Called.Theirs
				c.To = c.From // nothing is left to do for it
			} else {
				last[c.Path] = c
			}
		}
	}
	for i := range sets {
		sets[i] = slices.DeleteFunc(sets[i], func(c threeway.Change) bool { return c.From.Same(c.To) })
	}
	return sets
}

// unsaved is what no checkpoint of the session has yet.
type unsaved struct {
	by    map[string]string // by path, who changed it: a session, Outside or Unknown
	taken *difference       // what --by outside takes back of it
}

// unsaved compares the worktree with the current checkpoint. What the newest checkpoint of another
// session has in exactly this form is that session's work. Nobody knows who made the rest, unless
// no agent is at work or what the hooks remember says so: then it was made outside.
func (r *reverting) unsaved(ctx context.Context, now, saved threeway.Side) (unsaved, error) {
	changes, err := threeway.Diff(ctx, r.s.Repo, now, saved, threeway.Names{Ours: "now", Base: "now", Theirs: r.into.Entry.Label})
	u := unsaved{by: map[string]string{}, taken: &difference{label: "now", after: now, before: saved.Tree}}
	if err != nil || len(changes) == 0 {
		return u, err
	}
	rest, e := Outside, r.into.Entry.Event()
	switch e.Trigger {
	case journal.TriggerPrompt, journal.TriggerTool, journal.TriggerBefore: // its turn has not ended
		rest = Unknown
	}
	if !author.Load(r.s.Repo.GitDir).Idle(r.into.Session, e.Time) {
		rest = Unknown
	}
	differ, err := r.s.Repo.Trees.Diff(ctx, saved.Tree, now.Tree)
	if err != nil {
		return u, err
	}
	told := author.MakersNow(ctx, r.s.Repo, r.into.Session, differ) // what hooks remember
	others, err := r.savedByOthers(ctx, changes, u.by)
	if err != nil {
		return u, err
	}
	if others {
		rest = Unknown
	}
	for _, c := range changes {
		if told[c.Path].By == author.Outside {
			u.by[c.Path] = Outside
		} else if u.by[c.Path] == "" {
			u.by[c.Path] = rest
		}
		if u.by[c.Path] == Outside && r.wanted(c.Path) {
			u.taken.changes = append(u.taken.changes, c)
		}
	}
	return u, nil
}

// savedByOthers adds to by the paths that are as another session has them which has worked in this
// worktree since. It reports whether there is one.
func (r *reverting) savedByOthers(ctx context.Context, changes []threeway.Change, by map[string]string) (worked bool, err error) {
	e := r.into.Entry.Event()
	states, err := checkpoint.States(ctx, r.s.Store, "")
	if err != nil {
		return false, err
	}
	for _, st := range states {
		other := st.CurrentEntry()
		if st.Session == r.into.Session || other == nil || other.Event().WorktreeID != e.WorktreeID || !other.Event().Time.After(e.Time) {
			continue
		}
		worked = true
		theirs, err := rollback.TargetOf(ctx, r.s, other)
		if err != nil {
			continue // a damaged checkpoint says nothing
		}
		for _, c := range changes {
			at, there, err := r.s.Repo.Trees.Lookup(ctx, theirs.Tree, c.Path)
			if err != nil {
				return worked, err
			}
			if there == (c.From.Entry.Mode != 0) && c.From.Same(threeway.SideOf(theirs).VersionAt(c.Path, at)) {
				by[c.Path] = string(st.Session)
			}
		}
	}
	return worked, nil
}

// others returns who changed the paths that were merged or have a conflict. The steps that are
// taken back are not included.
func (r *reverting) others(ctx context.Context, outcomes []threeway.Outcome, since unsaved) (map[string][]string, error) {
	with := map[string][]string{}
	add := func(path, who string) {
		if who != r.req.By && !slices.Contains(with[path], who) { // what it did itself is taken back
			with[path] = append(with[path], who)
		}
	}
	open := map[string]bool{}
	for _, o := range outcomes {
		if o.How != threeway.Merged && o.How != threeway.Conflict {
			continue
		}
		for _, path := range []string{o.Path, o.Also} {
			open[path] = path != ""
			if who := since.by[path]; who != "" {
				add(path, who)
			}
		}
	}
	if len(open) == 0 || len(r.diffs) == 0 {
		return with, nil
	}
	taken := gather.Map(r.diffs, func(d *difference) (name.ID, *difference) { return d.found.Entry.Checkpoint, d })
	oldest := r.diffs[len(r.diffs)-1].found.Entry
	for e := range r.into.State.LineTo(r.into.Entry) {
		if e.Checkpoint == oldest.Checkpoint {
			break
		}
		if e.Dead {
			continue
		}
		if err := r.otherIn(ctx, e, taken[e.Checkpoint], open, add); err != nil {
			return nil, err
		}
	}
	return with, nil
}

// otherIn calls add for each open path that a checkpoint changed, except for what is taken back of it.
func (r *reverting) otherIn(ctx context.Context, e *journal.Entry, taken *difference, open map[string]bool, add func(path, who string)) error {
	rec, err := checkpoint.ReadRecord(ctx, r.s.Store, e)
	if err != nil {
		return ctx.Err() // the plan does not need it
	}
	did := author.StepIn(r.into.State, e, rec)
	if did.Base == nil {
		return nil
	}
	before, err := r.s.Repo.Commits.Read(ctx, string(did.Base.Event().Commit))
	if err != nil {
		return ctx.Err()
	}
	changes, err := r.s.Repo.Trees.Diff(ctx, before.Tree, rec.Snapshot.Tree)
	if err != nil {
		return ctx.Err()
	}
	unsure := Unknown
	whole, err := r.whole(ctx, &checkpoint.Found{Session: r.into.Session, State: r.into.State, Entry: e}, rec, did.Base)
	switch {
	case err != nil:
		return err
	case whole: // somebody saved it
		unsure = Outside
	}
	for _, c := range changes {
		isTaken := taken != nil && slices.ContainsFunc(taken.changes, func(t threeway.Change) bool { return t.Path == c.Path })
		if !open[c.Path] || isTaken {
			continue
		}
		who := nameOf(did.Who(record.Path(c.Path)))
		if who == Unknown {
			who = unsure
		}
		add(c.Path, who)
	}
	return nil
}
