package expunge

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

// place is where something that goes stands below a tree.
type place struct {
	path  string
	entry git.Entry
}

// rewriting is what is done to one session.
type rewriting struct {
	plan    *Plan
	session name.Session

	tip      name.OID // of the journal that this is planned on
	state    *journal.State
	held     map[name.ID]name.OID
	archived map[name.ID]bool
	below    map[name.OID][]place // by tree: what goes; it is shared by many checkpoints
	old      []*old               // in the order of the fold: the first that holds it, and all after it
	dead     []name.ID            // dead ones that are still held: an expunge was cut off
}

// old is a checkpoint that is written again.
type old struct {
	entry  *journal.Entry
	commit git.Commit
	record git.Commit
	files  []place // below the checkpoint's tree
	parts  []place // below the record's tree
	holds  bool
}

// open reads the session as it is now.
func (r *rewriting) open(ctx context.Context) error {
	st, err := r.plan.s.State(ctx, r.session)
	if err != nil {
		return err
	}
	r.state = st
	if r.tip, err = r.plan.s.Repo.Batch().Resolve(ctx, name.JournalRef(r.session)); err != nil {
		return checkpoint.Classify(err)
	}
	r.held, r.archived, err = r.plan.s.Store.HeldOf(ctx, r.session)
	return checkpoint.Classify(err)
}

// at adds the blobs that a checkpoint has at a path: in its files, staged, unmerged, byte
// for byte, and as an output that was read from it.
func (r *rewriting) at(ctx context.Context, commit name.OID, file string, to map[name.OID]bool) error {
	repo := r.plan.s.Repo
	c, err := repo.ReadCommit(ctx, string(commit))
	if err != nil || len(c.Parents) == 0 {
		return err
	}
	m, err := repo.ReadCommit(ctx, string(c.Parents[len(c.Parents)-1]))
	if err != nil {
		return err
	}
	places := map[string]name.OID{file: c.Tree}
	for _, dir := range []string{"index", "raw", "conflicts/1", "conflicts/2", "conflicts/3"} {
		places[dir+"/"+file] = m.Tree
	}
	rec, _, _, err := r.plan.s.Store.Record(ctx, commit)
	if err == nil {
		for _, o := range rec.Outputs {
			if string(o.Source) == file {
				to[o.OID] = true
			}
		}
	}
	for at, tree := range places {
		if e, found, err := repo.Lookup(ctx, tree, at); err == nil && found && !e.IsTree() && e.Mode != git.ModeGitlink {
			to[e.OID] = true
		}
	}
	return nil
}

// find lists the checkpoints that are written again. What comes after one that holds it is
// written again too: what stands in for a checkpoint comes last in the journal, and the
// order of those after it would be another one.
func (r *rewriting) find(ctx context.Context) error {
	r.old, r.dead = nil, nil
	for _, e := range r.state.Checkpoints() {
		commit := r.held[e.Checkpoint]
		switch {
		case e.Dead && commit != "":
			r.dead = append(r.dead, e.Checkpoint)
			continue
		case e.Dead || commit == "":
			continue
		}
		o, err := r.look(ctx, e, commit)
		if err != nil {
			if ctx.Err() != nil {
				return checkpoint.Classify(err)
			}
			r.plan.answer.Kept = append(r.plan.answer.Kept, fmt.Sprintf("%s is damaged and stays as it is; git checkpoint delete %s removes it: %v", e.Label, e.Checkpoint, err))
			continue
		}
		if o.holds || len(r.old) > 0 {
			r.old = append(r.old, o)
		}
	}
	return nil
}

func (r *rewriting) look(ctx context.Context, e *journal.Entry, commit name.OID) (*old, error) {
	repo := r.plan.s.Repo
	o := &old{entry: e}
	var err error
	if o.commit, err = repo.ReadCommit(ctx, string(commit)); err != nil {
		return nil, err
	}
	m, err := r.plan.s.Store.RecordCommit(ctx, commit)
	if err != nil {
		return nil, err
	}
	if o.record, err = repo.ReadCommit(ctx, string(m)); err != nil {
		return nil, err
	}
	if o.files, err = r.hunt(ctx, o.commit.Tree); err != nil {
		return nil, err
	}
	if o.parts, err = r.hunt(ctx, o.record.Tree); err != nil {
		return nil, err
	}
	o.holds = len(o.files)+len(o.parts) > 0 || r.plan.goal.hit(commit)
	if head := headOf(o.commit); head != "" && !o.holds {
		o.holds = r.plan.dropped(ctx, head)
	}
	return o, nil
}

// headOf is the commit that HEAD was at.
func headOf(c git.Commit) name.OID {
	if len(c.Parents) == 2 {
		return c.Parents[0]
	}
	return ""
}

// hunt lists what goes below a tree, which is looked at once.
func (r *rewriting) hunt(ctx context.Context, tree name.OID) ([]place, error) {
	if known, looked := r.below[tree]; looked || tree == "" {
		return known, nil
	}
	entries, err := r.plan.s.Repo.ReadTree(ctx, tree)
	if err != nil {
		return nil, err
	}
	var found []place
	for _, e := range entries {
		switch {
		case e.IsTree():
			inside, err := r.hunt(ctx, e.OID)
			if err != nil {
				return nil, err
			}
			for _, p := range inside {
				found = append(found, place{path.Join(e.Name, p.path), p.entry})
			}
		case e.Mode != git.ModeGitlink && r.plan.goal.hit(e.OID):
			found = append(found, place{e.Name, e})
		}
	}
	r.below[tree] = found
	return found, nil
}

// places names where a checkpoint holds it, for people.
func (o *old) places() []string {
	var all []string
	for _, p := range o.files {
		all = append(all, p.path)
	}
	for _, p := range o.parts {
		switch top, rest, _ := strings.Cut(p.path, "/"); top {
		case "checkpoint.json":
			all = append(all, "its message or state")
		case "index":
			all = append(all, rest+" (staged)")
		case "conflicts":
			_, rest, _ = strings.Cut(rest, "/")
			all = append(all, rest+" (unmerged)")
		case "raw":
			all = append(all, rest+" (exact bytes)")
		default:
			all = append(all, p.path)
		}
	}
	if len(all) == 0 && o.holds {
		all = append(all, "the commit that HEAD was at")
	}
	slices.Sort(all)
	return slices.Compact(all)
}
