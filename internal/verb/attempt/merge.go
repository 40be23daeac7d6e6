package attempt

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/inspect"
)

// mergesTrees is the first version of git with `merge-tree --write-tree`.
const mergesTrees = "2.38"

// merging returns a function that merges the files here with those of an attempt. The base
// of this three-way merge is the copy with which the attempt began. The plan of a rollback
// calls it with what it captured of the worktree and with its target, and writes the
// result, or of that only the paths that were asked for: conflicts in others do not matter.
func merging(ctx context.Context, s *checkpoint.Service, into name.Session, from *checkpoint.Found, req PromoteRequest) (func(context.Context, *snapshot.Capture, snapshot.Target) (snapshot.Target, error), error) {
	version, err := s.Repo.Version(ctx)
	if err != nil {
		return nil, err
	}
	if git.Older(version, mergesTrees) {
		return nil, checkpoint.Failure(checkpoint.KindRefused, "leave out --merge: the plan then shows what is replaced; -- PATH… brings only some files", "--merge needs git %s, and this is git %s", mergesTrees, version)
	}
	first := from.State.At(0)
	if first == nil {
		return nil, checkpoint.NoCheckpointError(from.State)
	}
	base, err := s.Repo.ReadCommit(ctx, string(first.Event().Commit))
	if err != nil {
		return nil, checkpoint.DamagedError(first, err)
	}
	wanted := func(string) bool { return true }
	if len(req.Paths) > 0 {
		if wanted, err = inspect.PathFilter(s, req.Paths); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, now *snapshot.Capture, t snapshot.Target) (snapshot.Target, error) {
		tree, conflicts, err := mergeTrees(ctx, s, [3]side{{base.Tree, "the fork"}, {now.Tree, string(into)}, {t.Tree, string(from.Session)}})
		if err != nil {
			return t, err
		}
		conflicts = slices.DeleteFunc(conflicts, func(p string) bool { return !wanted(p) })
		if len(conflicts) > 0 && req.How != MergeConflict {
			return t, &checkpoint.Error{
				Kind: checkpoint.KindRefused, Message: fmt.Sprintf("the changes here and in the attempt conflict (conflicts: %d); nothing was changed", len(conflicts)),
				Hints: append(conflicts, "--conflicts writes both versions into the files, with conflict markers"),
			}
		}
		for _, p := range conflicts { // MergeConflict: write the markers
			s.Warn(fmt.Sprintf("conflict in %s: it will get conflict markers", p))
		}
		return merged(ctx, s, now, t, tree)
	}, nil
}

// side is a tree of a merge, with its name for conflict markers.
type side struct {
	tree name.OID
	name string
}

// mergeTrees merges the trees base, ours and theirs. git 2.39 has no --merge-base, so it merges
// temporary commits with a common parent. Paths with conflicts are returned beside the tree, where
// they have markers.
func mergeTrees(ctx context.Context, s *checkpoint.Service, sides [3]side) (tree name.OID, conflicts []string, err error) {
	var commits [3]name.OID
	author, committer := s.Repo.Identity(s.Now())
	for i, one := range sides {
		c := git.Commit{Tree: one.tree, Author: author, Committer: committer, Message: one.name + "\n"}
		if i > 0 {
			c.Parents = commits[:1]
		}
		if commits[i], err = s.Repo.WriteCommit(ctx, c); err != nil {
			return "", nil, err
		}
	}
	out, err := s.Repo.Run(ctx, git.Cmd{
		Args:   []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", string(commits[1]), string(commits[2])},
		Config: []string{"core.abbrev=no"}, // for withNames
	})
	if err != nil && git.ExitCode(err) != 1 { // exit code 1 means conflicts
		return "", nil, err
	}
	// The output is the tree and then a path for each conflicting entry, so a path may
	// repeat.
	fields := strings.Split(strings.TrimRight(string(out.Stdout), "\x00"), "\x00")
	if tree, err = name.ParseOID(fields[0]); err != nil {
		return "", nil, err
	}
	tree, conflicts, err = withNames(ctx, s, tree, slices.Compact(fields[1:]), sides, commits)
	return tree, conflicts, err
}

// withNames replaces the ids of the temporary commits in conflict markers by the names of the sides, and
// in paths such as "file~<id>", which git makes where one side has a directory. The ids are new, so
// they stand nowhere else.
func withNames(ctx context.Context, s *checkpoint.Service, tree name.OID, conflicts []string, sides [3]side, commits [3]name.OID) (name.OID, []string, error) {
	var pairs []string
	for i, oid := range commits {
		pairs = append(pairs, string(oid), sides[i].name)
	}
	names := strings.NewReplacer(pairs...)
	edits := map[string]git.Entry{}
	for i, p := range conflicts {
		e, there, err := s.Repo.Lookup(ctx, tree, p)
		if err != nil {
			return "", nil, err
		}
		if !there || e.Mode != git.ModeFile && e.Mode != git.ModeExec {
			continue
		}
		o, err := s.Repo.Batch().Typed(ctx, string(e.OID), "blob")
		if err != nil {
			return "", nil, err
		}
		if e.OID, err = s.Repo.WriteObject(ctx, "blob", []byte(names.Replace(string(o.Data)))); err != nil {
			return "", nil, err
		}
		edits[p] = git.Entry{}
		conflicts[i] = names.Replace(p)
		edits[conflicts[i]] = e
	}
	tree, err := s.Repo.EditTree(ctx, tree, edits)
	return tree, conflicts, err
}

// merged returns the target of a merge. Exact bytes and permissions of a file come from the
// side whose version the merge took. It has no index, so what is staged stays as it is.
func merged(ctx context.Context, s *checkpoint.Service, now *snapshot.Capture, t snapshot.Target, tree name.OID) (snapshot.Target, error) {
	out := snapshot.Target{Tree: tree, Raw: map[string]name.OID{}, Modes: map[string]fs.FileMode{}, Skipped: t.Skipped, Keep: t.Keep}
	// A path that the merge took unchanged from one side has the tree entry of that side.
	for _, from := range []struct {
		tree  name.OID
		raw   map[string]name.OID
		modes map[string]fs.FileMode
	}{{t.Tree, t.Raw, t.Modes}, {now.Tree, now.Raw, now.Modes}} {
		changed, err := s.Repo.DiffTrees(ctx, from.tree, tree)
		if err != nil {
			return out, err
		}
		differs := map[string]bool{}
		for _, c := range changed {
			differs[c.Path] = true
		}
		for p, oid := range from.raw {
			if !differs[p] {
				out.Raw[p] = oid
			}
		}
		for p, mode := range from.modes {
			if !differs[p] {
				out.Modes[p] = mode
			}
		}
	}
	return out, nil
}
