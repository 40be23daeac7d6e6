package snapshot

// What is staged is the difference between HEAD and the index. A restore brings back this difference
// and not the list of entries: if HEAD has other files by now, a list from then would stage the
// reverse of everything that was committed since. The functions here apply the difference that was
// recorded to the tree of HEAD as it is after the restore.

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// Heads are the commits of HEAD that decide what is staged after a restore. An empty id stands for a
// branch without a commit.
type Heads struct {
	Then   name.OID // when Target.Index was recorded
	Staged []string // where Target.Index differed from Then, for when Then cannot be read
	Listed bool     // Staged is complete
	Now    name.OID
	After  name.OID // after the restore
	Exact  bool     // restore Target.Index as it was recorded, whatever HEAD is
}

// Carried says what became of staged entries because HEAD has a different tree from when they were
// recorded. All paths are sorted.
type Carried struct {
	Staged []string // the entries that are staged again
	Over   []string // those of Staged whose path HEAD changed since
	Left   []string // not staged again: HEAD has a directory at the place of the file, or the reverse
	Stays  string   // why the index stays as it is; empty if it does not
}

// listed is what an index has at a path: a file at stage 0, unless intent or conflict says that it has an
// entry of git add -N or one with conflict stages.
type listed struct {
	path             string
	file             git.Entry
	intent, conflict bool
}

// carried is what the new index has at a path.
type carried struct {
	listed
	staged bool // the entry, or its absence, is as it was recorded
	again  bool // and HEAD has something else there
	over   bool // HEAD has something else there than it had then
	left   bool // the recorded entry has no place beside those of HEAD
}

// carryEntry decides for one path: c is what HEAD had then, i what the index had, and h what HEAD has
// after the restore.
func carryEntry(c git.Entry, i listed, h git.Entry) carried {
	out := carried{listed: i, staged: true, over: !sameFile(c, h)}
	mergeable := regular(c.Mode) && regular(i.file.Mode) && regular(h.Mode)
	switch {
	case i.conflict:
	case i.intent && c.Mode == 0 && h.Mode != 0, !i.intent && sameFile(c, i.file):
		out.listed, out.staged = listed{path: i.path, file: h}, false
	case i.intent:
	case mergeable && c.OID == i.file.OID:
		out.file.OID = h.OID
	case mergeable && c.Mode == i.file.Mode:
		out.file.Mode = h.Mode
	}
	out.again = out.staged && (i.conflict || i.intent || !sameFile(out.file, h))
	return out
}

// sameFile compares mode and content. Zero entries, which stand for no file, are the same.
func sameFile(a, b git.Entry) bool { return a.Mode == b.Mode && a.OID == b.OID }

// leaveOut removes the staged files that cannot stand beside a file of HEAD, because one of the two is
// in the place of a directory above the other one. HEAD has no file at their own path then. Conflict
// stages are at other stages, and git keeps them beside anything.
func leaveOut(all []carried) {
	files, dirs := map[string]bool{}, map[string]bool{}
	for _, e := range all {
		if !e.staged && e.file.Mode != 0 {
			files[e.path] = true
			worktree.AddAbove(dirs, e.path)
		}
	}
	for n := range all {
		e := &all[n]
		if !e.staged || e.conflict || e.file.Mode == 0 && !e.intent {
			continue
		}
		blocked := dirs[e.path]
		for d := range worktree.ParentsOf(e.path) {
			blocked = blocked || files[d]
		}
		if blocked {
			*e = carried{listed: listed{path: e.path}, left: true}
		}
	}
}

// indexCarrier carries what is staged over to another commit.
type indexCarrier struct{ indexes }

// carry returns the index for HEAD as it is after the restore. It differs from that HEAD as index
// differs from heads.Then. now is the present index. If both HEADs are the same, the result is
// index itself, with a nil Carried. The index is nil if something cannot be read, and Carried says
// so.
func (s *indexCarrier) carry(ctx context.Context, index, now *IndexState, h Heads) (*IndexState, *Carried, error) {
	if h.Then == h.After {
		return index, nil, nil
	}
	after, err := s.treeAt(ctx, h.After)
	if stopped(err) {
		return nil, nil, err
	}
	if err != nil {
		return nil, &Carried{Stays: fmt.Sprintf("the commit of HEAD, %s, cannot be read", h.After.Short())}, nil //nolint:nilerr // it is said
	}
	then, err := s.treeAt(ctx, h.Then)
	if err == nil && then == after {
		return index, nil, nil
	}
	var all []carried
	if err == nil {
		all, err = s.carryFrom(ctx, then, index, after)
	}
	switch {
	case err == nil || stopped(err):
	case s.repo.Trees.Walk(ctx, after, func(string, git.Entry) error { return nil }) != nil:
		return nil, &Carried{Stays: fmt.Sprintf("the files of HEAD's commit, %s, cannot be read", h.After.Short())}, nil //nolint:nilerr // it is said
	case !h.Listed:
		return nil, &Carried{Stays: fmt.Sprintf("the commit that HEAD was at then, %s, cannot be read, and not everything that was staged is listed", h.Then.Short())}, nil
	default:
		all, err = s.carryListed(ctx, h.Staged, index, after)
	}
	if err != nil {
		return nil, nil, err
	}
	return s.carriedIndex(ctx, all, index, now, after)
}

// MovesIndex reports whether the restore puts another index in place.
func (r *Restore) MovesIndex() bool { return r.intent.Index != nil }

// Follow carries the index that Back has put in place of another one to the HEAD after, because
// somebody has moved HEAD there since the restore began. An index that Back left alone is that
// person's.
func (r *Restore) Follow(ctx context.Context, then, after name.OID) error {
	if then == after || !r.replaced {
		return nil
	}
	p, err := r.worktree.openIndex(ctx)
	if err != nil {
		return err
	}
	defer p.remove()
	if p.state.Tree, err = r.worktree.stagedTree(ctx, p); err != nil {
		return err
	}
	index, said, err := r.worktree.carrier.carry(ctx, &p.state, &p.state, Heads{Then: then, After: after})
	if err != nil || index == nil || said == nil {
		return err
	}
	r.intent.Index, r.intent.IndexTree = index, index.Tree
	return r.putIndex(ctx)
}

// treeAt returns the tree of a commit, and an empty one for none.
func (s *indexCarrier) treeAt(ctx context.Context, commit name.OID) (name.OID, error) {
	if commit == "" {
		return "", nil
	}
	c, err := s.repo.Commits.Read(ctx, string(commit))
	return c.Tree, err
}

// three has a path's file of HEAD then, of the index then, and of HEAD after the restore.
type three [3]git.Entry

// carryFrom calls carryAll with the files of three trees. Only directories that differ are read,
// and none of HEAD if nothing was staged.
func (s *indexCarrier) carryFrom(ctx context.Context, then name.OID, index *IndexState, after name.OID) ([]carried, error) {
	staged, err := s.repo.Trees.Diff(ctx, then, index.Tree)
	if err != nil || len(staged)+len(index.Unmerged)+len(index.IntentToAdd) == 0 {
		return nil, err
	}
	since, err := s.repo.Trees.Diff(ctx, then, after)
	if err != nil {
		return nil, err
	}
	at := gather.Map(since, func(c git.Change) (string, three) { return c.Path, three{c.Old, c.Old, c.New} })
	for _, c := range staged {
		t, known := at[c.Path]
		if !known {
			t[2] = c.Old
		}
		at[c.Path] = three{c.Old, c.New, t[2]}
	}
	return carryAll(at, index), nil
}

// unknown is a file of which it is only known that the index had something else at its path.
var unknown = git.Entry{Mode: 1}

// carryListed is carryFrom for a HEAD that cannot be read: all that is known of it are the paths at
// which the index differed from it.
func (s *indexCarrier) carryListed(ctx context.Context, staged []string, index *IndexState, after name.OID) ([]carried, error) {
	changes, err := s.repo.Trees.Diff(ctx, index.Tree, after)
	if err != nil {
		return nil, err
	}
	at := gather.Map(changes, func(c git.Change) (string, three) { return c.Path, three{c.Old, c.Old, c.New} })
	for _, p := range staged {
		t, differs := at[p]
		if !differs {
			if t[1], _, err = s.repo.Trees.Lookup(ctx, index.Tree, p); err != nil {
				return nil, err
			}
			if t[1].IsTree() {
				t[1] = git.Entry{} // a file was staged as deleted, and a directory took its place
			}
			t[2] = t[1]
		}
		at[p] = three{unknown, t[1], t[2]}
	}
	all := carryAll(at, index)
	for n := range all {
		all[n].over = false // nobody knows
	}
	return all, nil
}

// carryAll applies the difference between HEAD then and the index then to HEAD as it is after the
// restore: to the files at, and to what else the index has. Paths at which all three have the same file
// may be missing. The result is sorted by path.
func carryAll(at map[string]three, index *IndexState) []carried {
	intents, conflicts := gather.SetOf(index.IntentToAdd), gather.SetOf(index.unmerged())
	for _, more := range []map[string]bool{intents, conflicts} {
		for p := range more {
			at[p] = three{at[p][0], {}, at[p][2]}
		}
	}
	all := make([]carried, 0, len(at))
	for _, p := range slices.Sorted(maps.Keys(at)) {
		t := at[p]
		all = append(all, carryEntry(t[0], listed{p, t[1], intents[p], conflicts[p]}, t[2]))
	}
	leaveOut(all)
	return all
}

// carriedIndex makes an index state of what carryAll returned. An entry that follows HEAD has
// the flags that it has now, and a recorded entry has those that were recorded.
func (s *indexCarrier) carriedIndex(ctx context.Context, all []carried, index, now *IndexState, after name.OID) (*IndexState, *Carried, error) {
	said, ours, edits := &Carried{}, map[string]bool{}, map[string]git.Entry{}
	out := &IndexState{Unmerged: index.Unmerged}
	for _, e := range all {
		if e.left {
			said.Left = append(said.Left, e.path)
		}
		if !e.staged {
			continue
		}
		ours[e.path] = true
		if e.intent {
			out.IntentToAdd = append(out.IntentToAdd, e.path)
		}
		if e.again {
			edits[e.path] = e.file
			said.Staged = append(said.Staged, e.path)
		}
		if e.again && e.over {
			said.Over = append(said.Over, e.path)
		}
	}
	var err error
	if out.Tree, err = s.repo.Trees.Edit(ctx, after, edits); err != nil {
		return nil, nil, err
	}
	gone, absent := map[string]bool{}, absentPaths(index)
	if len(now.AssumeUnchanged)+len(now.SkipWorktree) > 0 {
		if gone, err = s.lacking(ctx, now.Tree, out.Tree); err != nil {
			return nil, nil, err
		}
	}
	// A file that the restore leaves off the disk keeps its recorded skip-worktree bit. Otherwise
	// git would call it deleted.
	if len(absent) > 0 {
		without, err := s.lacking(ctx, index.Tree, out.Tree)
		if err != nil {
			return nil, nil, err
		}
		maps.DeleteFunc(absent, func(p string, _ bool) bool { return without[p] })
	}
	flags := func(then, now []string, also map[string]bool) []string {
		kept := slices.DeleteFunc(slices.Clone(then), func(p string) bool { return !ours[p] && !also[p] })
		kept = append(kept, gather.Those(now, func(p string) bool { return !ours[p] && !gone[p] && !also[p] })...)
		slices.Sort(kept)
		return kept
	}
	out.AssumeUnchanged, out.SkipWorktree = flags(index.AssumeUnchanged, now.AssumeUnchanged, nil), flags(index.SkipWorktree, now.SkipWorktree, absent)
	return out, said, nil
}

// lacking returns the paths of tree that other does not have.
func (s *indexCarrier) lacking(ctx context.Context, tree, other name.OID) (map[string]bool, error) {
	changes, err := s.repo.Trees.Diff(ctx, tree, other)
	return gather.Set(gather.Those(changes, func(c git.Change) bool { return c.New.Mode == 0 }), func(c git.Change) string { return c.Path }), err
}
