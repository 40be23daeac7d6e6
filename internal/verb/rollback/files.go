package rollback

// This file plans the file part of a rollback: it captures the worktree as it is, asks package
// snapshot for the operations that lead to the target, and refuses a plan that would lose a file.
// It captures with the ignore rules of the worktree, plus ignored files that the plan will touch.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
)

// contents is what a rollback needs of a record commit besides the record. See "The record commit M"
// in docs/format.md.
type contents struct {
	index *snapshot.IndexState // nil for an imported checkpoint whose index is not known
	raw   map[string]name.OID  // exact bytes by path, where git's conversions would not reproduce them
	heads snapshot.Heads       // where HEAD was, as headsOf returns it
}

// readTarget reads the record of a checkpoint and what else its record commit holds.
func readTarget(ctx context.Context, s *store.Store, e *journal.Entry) (rec *record.Record, got contents, err error) {
	stored, err := checkpoint.ReadStored(ctx, s, e)
	if err != nil {
		return nil, got, err
	}
	rec, m := checkpoint.DescribedBy(e, stored.Record), stored.Commit
	got.heads = headsOf(rec, stored.Raw)
	index := &snapshot.IndexState{
		IntentToAdd: create.FromPaths(rec.Git.IntentToAdd), AssumeUnchanged: create.FromPaths(rec.Git.AssumeUnchanged),
		SparsePresent: create.FromPaths(rec.Git.SparsePresent),
	}
	if index.Tree, err = s.IndexTree(ctx, m); err != nil {
		return nil, got, err
	}
	if index.Unmerged, err = s.Conflicts(ctx, m); err != nil {
		return nil, got, err
	}
	if index.SkipWorktree, err = s.SkipWorktree(ctx, m); err != nil {
		return nil, got, err
	}
	sparse, known := create.MemberSparse.Of(rec.Git.Extra)
	index.Sparse = !known || sparse // older versions did not say
	if rec.Git.Index != "" {
		got.index = index
	}
	got.raw, err = s.Raw(ctx, m)
	return rec, got, err
}

// damaged returns the error for a checkpoint that the move needs and that cannot be read.
func (r *target) damaged(ctx context.Context, e *journal.Entry, err error) error {
	if r.Adds { // no rollback to one before it would help
		return checkpoint.DamagedError(e, err)
	}
	return r.s.Rules.CorruptError(ctx, r.To.State, e, err)
}

// TargetOf returns the files and the index of a checkpoint, for callers that restore them into a
// new worktree.
func TargetOf(ctx context.Context, s *checkpoint.Service, e *journal.Entry) (snapshot.Target, error) {
	rec, got, err := readTarget(ctx, s.Store, e)
	if err != nil {
		return snapshot.Target{}, checkpoint.DamagedError(e, err)
	}
	return targetOf(s, e, rec, got)
}

// targetOf returns what is to be restored of a checkpoint. A mode in the record that is not octal
// permission bits is damage. A record that was not made here opens no file to more people than a new
// file would be open to.
func targetOf(s *checkpoint.Service, e *journal.Entry, rec *record.Record, got contents) (snapshot.Target, error) {
	t := snapshot.Target{Tree: rec.Snapshot.Tree, Raw: got.raw, Index: got.index, Modes: map[string]fs.FileMode{}}
	t.ModesKnown, _ = record.ModesKnown.Of(rec.Snapshot.Extra)
	for _, sk := range rec.Snapshot.Skipped {
		t.Skipped = append(t.Skipped, string(sk.Path))
	}
	allowed, err := create.AllowedBits(s, rec)
	if err != nil {
		return t, err
	}
	for p, text := range rec.Snapshot.Modes {
		mode, err := strconv.ParseUint(text, 8, 32)
		if err != nil || mode > 0o777 {
			return t, checkpoint.DamagedError(e, fmt.Errorf("the mode of %q is %q", p, text))
		}
		t.Modes[string(p)] = fs.FileMode(mode) & allowed
	}
	return t, nil
}

// unplanned returns the error for files that cannot be planned. If the target lacks some of them, it
// is damaged.
func (r *target) unplanned(ctx context.Context, err error) error {
	if _, missing := errors.AsType[*snapshot.MissingError](err); missing || snapshot.Damaged(err) {
		return r.damaged(ctx, r.Files, err)
	}
	if r.Exact {
		return whole(err)
	}
	return err
}

// moveFiles captures the worktree as it is and plans the changes to the target, whose record commit
// holds got.
func (r *target) moveFiles(ctx context.Context, got contents) (*fileMoves, error) {
	target, err := targetOf(r.s, r.Files, r.record, got)
	if err != nil {
		return nil, err
	}
	if r.Index != nil {
		if _, got, err = readTarget(ctx, r.s.Store, r.Index); err != nil {
			return nil, r.damaged(ctx, r.Index, err)
		}
		target.Index = got.index
	}
	heads, err := r.headsFor(ctx, got.heads)
	if err != nil {
		return nil, err
	}
	scope, err := r.scope(ctx)
	if err != nil {
		return nil, err
	}
	if target.Wrote, err = r.wrote(ctx); err != nil {
		return nil, err
	}
	target.Keep = agent.Holding(r.s.Repo.WorkTree) // otherwise a rollback to before the hooks were added would remove them
	// Ignored files that the target captured, and those that a rollback wrote, are captured
	// although they are ignored. Otherwise they would look like files that no checkpoint has.
	force := slices.AppendSeq(inspect.IgnoredOf(r.record), maps.Keys(target.Wrote))
	shot, err := r.s.Worktree()
	if err != nil {
		return nil, err
	}
	hooks, moves := target.Keep, &fileMoves{target: r}
	for range 2 { // a second time if ignored files have to be captured first
		if moves.cur, err = captureNow(ctx, r.s, r.To.Session, force); err != nil {
			return nil, err
		}
		if r.FilesStay {
			left := gather.List(moves.cur.Skipped, func(sk snapshot.Skip) string { return sk.Path })
			target = snapshot.Target{Tree: moves.cur.Tree, Raw: moves.cur.Raw, Skipped: left, Index: target.Index}
		}
		if r.Merge != nil {
			if target, err = r.Merge(ctx, moves.cur, target); err != nil {
				return nil, err
			}
		}
		if !r.Exact && target.Index != nil { // an undo brings back the index as it was
			target.Index = stillHidden(*target.Index, moves.cur.Index)
		}
		out, err := excluded(ctx, r.s.Repo, moves.cur.Tree, target.Tree)
		if err != nil {
			return nil, err
		}
		target.Keep, target.Heads = slices.Concat(hooks, out), heads
		if moves.plan, err = shot.Plan(ctx, moves.cur, target, scope); err != nil {
			return nil, r.unplanned(ctx, err)
		}
		more := moves.overwritable()
		if len(more) == 0 {
			break
		}
		force = append(force, more...)
	}
	return moves, cmp.Or(moves.refuseUnknownPaths(ctx), moves.sayExcluded(target.Keep[len(hooks):]), moves.refuseCollisions())
}

// stillHidden returns the index with the flags of the index now that hide local changes from git: dropped by
// a rollback, they would let the next commit take what they keep back.
func stillHidden(then, now snapshot.IndexState) *snapshot.IndexState {
	hidden := slices.DeleteFunc(slices.Clone(now.SparsePresent), func(path string) bool {
		return !slices.Contains(now.SkipWorktree, path) || slices.Contains(then.SkipWorktree, path) // it may have been absent
	})
	with := func(list, more []string) []string {
		return slices.Compact(slices.Sorted(slices.Values(slices.Concat(list, more))))
	}
	then.AssumeUnchanged = with(then.AssumeUnchanged, now.AssumeUnchanged)
	then.SkipWorktree, then.SparsePresent = with(then.SkipWorktree, hidden), with(then.SparsePresent, hidden)
	return &then
}

// refuseUnknownPaths returns an error for a path that neither side has, as git restore does.
// Otherwise a mistyped path would restore nothing, but still discard checkpoints.
func (r *fileMoves) refuseUnknownPaths(ctx context.Context) error {
	for _, typed := range r.req.Paths {
		p, err := r.s.Repo.RelativePath(typed)
		if _, spared := inspect.Spared(typed); err != nil || p == "." || spared {
			continue // scope has refused paths outside of the worktree
		}
		known, err := r.knows(ctx, p)
		if err != nil {
			return err
		}
		if !known {
			hint := "a path must be a file or directory, not a pattern"
			if _, err := os.Lstat(filepath.Join(r.s.Repo.WorkTree, filepath.FromSlash(p))); err == nil {
				hint = "a checkpoint has ignored files only with --include-ignored"
			}
			return checkpoint.Usage(hint, "neither the worktree nor %s has a captured file %q", r.source(), typed)
		}
		has := func(tree name.OID) bool { return snapshot.HasDatabase(ctx, r.s.Repo, tree, worktree.DatabaseOf(p)) }
		if base := worktree.DatabaseOf(p); base != "" && !r.plan.Scope.Only(base) && (has(r.cur.Tree) || has(r.record.Snapshot.Tree)) {
			return checkpoint.Failure(checkpoint.KindRefused, "name "+base, "%s belongs to the database %s, and comes back only with it", typed, base)
		}
		lacks, err := r.lacks(ctx, p)
		if err != nil {
			return err
		}
		if lacks {
			hint := "a rollback leaves alone what that checkpoint ignores or leaves out; remove it yourself if it has to go"
			return checkpoint.Usage(hint, "%s does not have %q", r.source(), typed)
		}
	}
	return nil
}

// lacks reports whether the target does not have a path, and the plan leaves what is there alone.
func (r *fileMoves) lacks(ctx context.Context, p string) (bool, error) {
	below := func(at string) bool { return snapshot.Covers(p, at) }
	if !slices.ContainsFunc(r.plan.Kept, below) || slices.ContainsFunc(r.plan.Ops, func(o snapshot.Op) bool { return below(o.Path) }) {
		return false, nil
	}
	for _, tree := range []name.OID{r.record.Snapshot.Tree, r.record.Git.Index} {
		if _, has, err := r.s.Repo.Trees.Lookup(ctx, tree, p); has || err != nil {
			return false, err
		}
	}
	leftOut := func(sk record.Skipped) bool { return below(string(sk.Path)) || snapshot.Covers(string(sk.Path), p) }
	return !slices.ContainsFunc(r.record.Snapshot.Skipped, leftOut), nil
}

// captureNow captures the worktree as it is. Paths in force are captured although they are ignored, and
// those in always although they are excluded.
func captureNow(ctx context.Context, s *checkpoint.Service, session name.Session, force []string, always ...string) (*snapshot.Capture, error) {
	rules := snapshot.Rules{Force: force, Always: always}
	create.WatchIgnored(ctx, s.Store, session, &rules)
	cur, err := create.Take(ctx, s, rules)
	if err != nil {
		return nil, err
	}
	// The rollback that the capture waited for may have been killed.
	return cur, checkpoint.RefuseHalf(s.Repo, cur)
}

// wrote returns the files that the rollbacks to be undone have written, with their content. The
// capture must include them even if they are ignored now: unchanged ones may be removed by the
// undo, changed ones must not be lost.
func (r *target) wrote(ctx context.Context) (map[string]name.OID, error) {
	all := map[string]name.OID{}
	for _, l := range slices.Backward(r.levels) { // oldest first, so that the newest wins
		e := r.lists.entry(l.Head.Safety)
		if isGone(e) || modeOf(l.Head) == ModeState {
			continue // a level that is skipped, or that wrote nothing
		}
		rec, err := checkpoint.ReadRecord(ctx, r.s.Store, e)
		if err != nil {
			return nil, checkpoint.DamagedError(e, err)
		}
		files, err := r.wroteBy(ctx, l.Head, rec)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, files)
	}
	return all, nil
}

// wroteBy returns the files that one move has written: the differences between its safety
// checkpoint, whose record is before, and the checkpoint that it restored.
func (r *target) wroteBy(ctx context.Context, move *journal.Event, before *record.Record) (map[string]name.OID, error) {
	mode := Mode(move.Mode)
	if mode == ModeLand {
		return nil, nil // it writes no file
	}
	// A move of some paths wrote only a part of the difference between the two trees. Its safety
	// checkpoint lists the ignored files that it created. Mode does not tell with --worktree-only.
	if made, partly := madeOf(before); partly || mode == ModePromote || mode == ModePaths || mode == ModeProduced {
		return made, nil
	}
	then := r.lists.restoredBy(move)
	if isGone(then) {
		return nil, nil
	}
	tree, err := treeOf(ctx, r.s.Repo, then)
	if err != nil {
		return nil, err
	}
	changes, err := r.s.Repo.Trees.Diff(ctx, before.Snapshot.Tree, tree)
	if err != nil {
		return nil, err
	}
	// Deleted files and nested repositories were not written.
	written := gather.Those(changes, func(c git.Change) bool { return c.New.Mode != 0 && c.New.Mode != git.ModeGitlink })
	return gather.Map(written, func(c git.Change) (string, name.OID) { return c.Path, c.New.OID }), nil
}

// restoredBy returns the checkpoint whose files a move restored: the target of a rollback, or the
// safety checkpoint that it names, or for an undo the safety checkpoint of the move that it undid.
func (w *undoLists) restoredBy(move *journal.Event) *journal.Entry {
	switch {
	case move.Files != "":
		return w.entry(move.Files)
	case move.Kind != journal.KindUndo:
		return w.entry(move.To)
	}
	for _, st := range w.states {
		for _, e := range st.Rollbacks {
			if e.OID == move.Undoes {
				return w.entry(e.Safety)
			}
		}
	}
	return w.entry(move.To)
}

// made returns the ignored files that a rollback of some paths creates. They go into the safety
// checkpoint, because its undo cannot compute them. For a whole rollback the two trees differ in
// them, and made returns nil, unless only tracked files were captured.
func (r *fileMoves) made(ctx context.Context) ([]create.MadeFile, error) {
	merged := r.Merge != nil && !r.FilesStay
	if len(r.req.Paths) == 0 && !r.Part && r.req.Mode != ModeProduced && !r.cur.TrackedOnly && !merged {
		return nil, nil
	}
	shot, err := r.s.Worktree()
	if err != nil {
		return nil, err
	}
	files, err := shot.Made(ctx, r.plan)
	if err != nil {
		return nil, err
	}
	return gather.List(slices.Sorted(maps.Keys(files)), func(p string) create.MadeFile { return create.MadeFile{Path: record.Path(p), OID: files[p]} }), nil
}

// madeOf returns the list that made stored in a safety checkpoint's record. partly is false if
// there is none: the rollback was not of some paths, or an earlier version left out an
// empty list.
func madeOf(r *record.Record) (made map[string]name.OID, partly bool) {
	list, partly := create.MemberMade.Of(r.Snapshot.Extra)
	return gather.Map(list, func(m create.MadeFile) (string, name.OID) { return string(m.Path), m.OID }), partly
}

// knows reports whether a path is captured, staged, or left out by a rule, here or in the
// checkpoint.
func (r *fileMoves) knows(ctx context.Context, p string) (bool, error) {
	for _, tree := range []name.OID{r.cur.Tree, r.record.Snapshot.Tree, r.cur.Index.Tree, r.record.Git.Index} {
		if _, known, err := r.s.Repo.Trees.Lookup(ctx, tree, p); known || err != nil {
			return known, err
		}
	}
	// Not in any tree, but known: unmerged and intent-to-add entries of the index, skipped files, and
	// directories without files that were there, which are among the modes.
	beside := slices.Concat(create.FromPaths(slices.Collect(maps.Keys(r.record.Snapshot.Modes))), create.FromPaths(r.record.Git.Unmerged), create.FromPaths(r.record.Git.IntentToAdd), r.cur.Index.IntentToAdd)
	beside = append(beside, gather.List(r.cur.Index.Unmerged, func(st git.Unmerged) string { return st.Path })...)
	out := slices.Clone(r.cur.Skipped)
	for _, sk := range r.record.Snapshot.Skipped {
		out = append(out, snapshot.Skip{Path: string(sk.Path), Reason: sk.Reason})
	}
	for _, sk := range out {
		beside = append(beside, sk.Path)
		switch sk.Reason {
		case snapshot.ReasonNested, snapshot.ReasonUnborn, snapshot.ReasonFormat, snapshot.ReasonSubmodule:
			continue // files below it belong to another repository
		}
		if strings.HasPrefix(p, strings.TrimSuffix(sk.Path, "/")+"/") {
			return true, nil
		}
	}
	return slices.ContainsFunc(beside, func(b string) bool { return strings.HasPrefix(b+"/", p+"/") }), nil
}

// scope converts mode and paths into a function that selects paths.
func (r *target) scope(ctx context.Context) (snapshot.Scope, error) {
	sc := snapshot.Scope{SkipIndex: r.req.Mode == ModeWorktree || r.filesOnly()}
	sc.KeepAway = !r.Exact && !sc.SkipIndex && len(r.req.Paths) == 0
	var err error
	switch {
	case r.only != nil:
		sc.Only = func(p string) bool { return r.only[p] }
	case len(r.req.Paths) > 0:
		sc.Only, err = inspect.PathFilter(r.s.Repo, r.req.Paths)
	}
	if err != nil || r.req.Mode != ModeProduced {
		return sc, err
	}
	paths, err := r.produced(ctx)
	asked := sc.Only
	sc.Only = func(p string) bool { return paths[p] && (asked == nil || asked(p)) }
	return sc, err
}

// produced returns the paths that changed between consecutive checkpoints of the session since the
// target: what the job's steps produced. Files that changed otherwise are not included.
func (r *target) produced(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	after := false
	for _, e := range r.To.State.Checkpoints() {
		after = after || e.Checkpoint == r.Files.Checkpoint
		before := r.To.State.Entry(e.Event().Previous)
		// Safety checkpoints are not steps of the job. Pruned ones have no tree to compare.
		if !after || e.Safety || e.Dead || before == nil || before.Dead || e.Checkpoint == r.Files.Checkpoint {
			continue
		}
		a, err := treeOf(ctx, r.s.Repo, before)
		if err != nil {
			return nil, err
		}
		b, err := treeOf(ctx, r.s.Repo, e)
		if err != nil {
			return nil, err
		}
		changes, err := r.s.Repo.Trees.Diff(ctx, a, b)
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			out[c.Path], out[worktree.DatabaseOf(c.Path)] = true, true
		}
	}
	return out, nil
}

// treeOf returns the tree of a checkpoint's files.
func treeOf(ctx context.Context, repo *git.Repo, e *journal.Entry) (name.OID, error) {
	commit, err := repo.Commits.Read(ctx, string(e.Event().Commit))
	if err != nil {
		return "", checkpoint.DamagedError(e, err)
	}
	return commit.Tree, nil
}
