package expunge

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// place is an entry of the goal with its path below a tree.
type place struct {
	path  string
	entry git.Entry
}

// rewriting is the work on one session.
type rewriting struct {
	plan    *Plan
	session name.Session

	// Tip of the journal on which the plan is based.
	tip   name.OID
	state *journal.State
	// held are the commits of the checkpoints that are here, and archived those in the
	// archive.
	held     map[name.ID]name.OID
	archived map[name.ID]bool
	below    map[name.OID][]place // what hunt found, by tree; checkpoints share many trees
	old      []*old               // in the order of the fold: the first one with the goal, and all after it
	dead     []name.ID            // dead ones with a ref: an earlier expunge was interrupted
	// Where the content of a checkpoint is that a rewrite of history replaced; see Adopt. Nil: nothing
	// is adopted.
	from map[name.ID]name.OID
	as   name.Session // the session that the replacements go to
}

// old is a checkpoint that is rewritten.
type old struct {
	entry  *journal.Entry
	commit git.Commit
	record git.Commit
	files  []place // entries of the goal below the checkpoint's tree
	parts  []place // likewise below the tree of the record commit
	holds  bool    // false for a checkpoint that is only rewritten to keep the order
}

// open reads the current state of the session.
func (r *rewriting) open(ctx context.Context) error {
	st, err := r.plan.s.Store.State(ctx, r.session)
	if err != nil {
		return err
	}
	r.state = st
	if r.tip, err = r.plan.s.Repo.Refs.Resolve(ctx, name.JournalRef(r.session)); err != nil {
		return err
	}
	r.held, r.archived, err = r.plan.s.Store.HeldOf(ctx, r.session)
	return err
}

// addBlobs adds the blobs that a checkpoint has for a path: in its files, in the index, in
// conflicts, as exact bytes, and as an output that was read from it.
func (r *rewriting) addBlobs(ctx context.Context, commit name.OID, file string, to map[name.OID]bool) {
	c, m, err := r.commits(ctx, commit)
	if err != nil {
		return // find reports a damaged checkpoint
	}
	// The record commit has copies of a file in several directories, under the path of the
	// file.
	places := map[string]name.OID{file: c.Tree}
	for _, dir := range []string{"index", "raw", "conflicts/1", "conflicts/2", "conflicts/3"} {
		places[dir+"/"+file] = m.Tree
	}
	rec, err := r.plan.s.Store.Record(ctx, commit)
	if err == nil {
		for _, o := range rec.Outputs {
			if string(o.Source) == file {
				to[o.OID] = true
			}
		}
	}
	for at, tree := range places {
		if e, found, err := r.plan.s.Repo.Trees.Lookup(ctx, tree, at); err == nil && found && !e.IsTree() && e.Mode != git.ModeGitlink {
			to[e.OID] = true
		}
	}
}

// group returns a path, or, if it is a database or belongs to one, what is removed with it.
func (r *rewriting) group(ctx context.Context, commit name.OID, file string) []string {
	base := cmp.Or(worktree.DatabaseOf(file), file)
	if c, err := r.plan.s.Repo.Commits.Read(ctx, string(commit)); err == nil && snapshot.HasDatabase(ctx, r.plan.s.Repo, c.Tree, base) {
		return worktree.Group(base)
	}
	return []string{file}
}

// commits reads the commit of a checkpoint and that of its record.
func (r *rewriting) commits(ctx context.Context, commit name.OID) (c, m git.Commit, err error) {
	if c, err = r.plan.s.Repo.Commits.Read(ctx, string(commit)); err != nil {
		return c, m, err
	}
	oid, err := r.plan.s.Store.RecordCommit(ctx, commit)
	if err != nil {
		return c, m, err
	}
	m, err = r.plan.s.Repo.Commits.Read(ctx, string(oid))
	return c, m, err
}

// find lists the checkpoints to rewrite: the first one with the goal and all that follow. A
// replacement comes last in the journal, so replacing only some would change their order.
func (r *rewriting) find(ctx context.Context) error {
	// What was found by an earlier plan is no longer valid.
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
		o, err := r.findEntries(ctx, e, commit)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			// A damaged checkpoint cannot be rewritten. It must not keep the others from
			// being cleaned.
			r.plan.answer.Kept = append(r.plan.answer.Kept, fmt.Sprintf("%s is damaged and was left as it is; `git checkpoint rebuild %s` says what became of it: %v", e.Label, e.Checkpoint, err))
			continue
		}
		if o.holds || len(r.old) > 0 {
			r.old = append(r.old, o)
		}
	}
	return nil
}

// findEntries reads one checkpoint and finds the entries of the goal in it.
func (r *rewriting) findEntries(ctx context.Context, e *journal.Entry, commit name.OID) (*old, error) {
	o := &old{entry: e}
	var err error
	if o.commit, o.record, err = r.commits(ctx, commit); err != nil {
		return nil, err
	}
	if r.from != nil {
		o.holds = r.from[e.Checkpoint] != ""
		return o, r.adoptable(ctx, o)
	}
	if o.files, err = r.hunt(ctx, o.commit.Tree); err != nil {
		return nil, err
	}
	if o.parts, err = r.hunt(ctx, o.record.Tree); err != nil {
		return nil, err
	}
	o.holds = len(o.files)+len(o.parts) > 0 || r.plan.goal.hit(commit)
	if head := o.commit.MadeOn(); head != "" && !o.holds {
		o.holds = r.plan.dropped(ctx, head)
	}
	return o, nil
}

// hunt returns the entries of the goal below a tree. Results are kept, because checkpoints
// share most of their trees.
func (r *rewriting) hunt(ctx context.Context, tree name.OID) ([]place, error) {
	if known, looked := r.below[tree]; looked || tree == "" {
		return known, nil
	}
	entries, err := r.plan.s.Repo.Trees.Read(ctx, tree)
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
			found = append(found, gather.List(inside, func(p place) place { return place{path.Join(e.Name, p.path), p.entry} })...)
		case e.Mode != git.ModeGitlink && r.plan.goal.hit(e.OID):
			found = append(found, place{e.Name, e})
		}
	}
	r.below[tree] = found
	return found, nil
}

// blobs returns the objects of the goal that a checkpoint has.
func (o *old) blobs() (oids []name.OID) {
	return gather.List(slices.Concat(o.files, o.parts), func(p place) name.OID { return p.entry.OID })
}

// places describes where a checkpoint has the goal, for messages.
func (o *old) places() []string {
	all := gather.List(o.files, func(p place) string { return p.path })
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
		all = append(all, "the commit of HEAD")
	}
	slices.Sort(all)
	return slices.Compact(all)
}
