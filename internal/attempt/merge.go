package attempt

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/snapshot"
)

// mergesTrees is the first version of git with `merge-tree --write-tree`.
const mergesTrees = "2.38"

// merging returns a function that merges the files here with those of an attempt. The base
// of this three-way merge is the copy with which the attempt began. The plan of a rollback
// calls it with what it captured of the worktree and with its target, and writes the
// result, or of that only the paths that were asked for: conflicts in others do not matter.
func merging(ctx context.Context, s *checkpoint.Service, from *checkpoint.Found, req PromoteRequest) (func(context.Context, *snapshot.Capture, snapshot.Target) (snapshot.Target, error), error) {
	version, err := s.Repo.Version(ctx)
	if err != nil {
		return nil, checkpoint.Classify(err)
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
		tree, conflicts, err := mergeTrees(ctx, s, base.Tree, now.Tree, t.Tree)
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

// mergeTrees merges three trees. git 2.39 has no --merge-base, so it merges temporary
// commits with a common parent. Paths with conflicts are returned beside the tree, where
// they have markers.
func mergeTrees(ctx context.Context, s *checkpoint.Service, base, ours, theirs name.OID) (tree name.OID, conflicts []string, err error) {
	commit := func(tree name.OID, parents ...name.OID) name.OID {
		if err != nil {
			return ""
		}
		author, committer := s.Repo.Identity(s.Now())
		var oid name.OID
		oid, err = s.Repo.WriteCommit(ctx, git.Commit{Tree: tree, Parents: parents, Author: author, Committer: committer, Message: "for a merge\n"})
		return oid
	}
	b := commit(base)
	o, t := commit(ours, b), commit(theirs, b)
	if err != nil {
		return "", nil, checkpoint.Classify(err)
	}
	out, err := s.Repo.Run(ctx, git.Cmd{Args: []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", string(o), string(t)}})
	if err != nil && git.ExitCode(err) != 1 { // exit code 1 means conflicts
		return "", nil, checkpoint.Classify(err)
	}
	// The output is the tree and then a path for each conflicting entry, so a path may
	// repeat.
	fields := strings.Split(strings.TrimRight(string(out.Stdout), "\x00"), "\x00")
	tree, err = name.ParseOID(fields[0])
	return tree, slices.Compact(fields[1:]), checkpoint.Classify(err)
}

// merged returns the target of a merge. Exact bytes and permissions of a file come from the
// side whose version the merge took. It has no index, so what is staged stays as it is.
func merged(ctx context.Context, s *checkpoint.Service, now *snapshot.Capture, t snapshot.Target, tree name.OID) (snapshot.Target, error) {
	out := snapshot.Target{Tree: tree, Raw: map[string]name.OID{}, Modes: map[string]fs.FileMode{}, Skipped: t.Skipped, Keep: t.Keep}
	// A path that the merge took unchanged from one side has the tree entry of that side.
	for _, side := range []struct {
		tree  name.OID
		raw   map[string]name.OID
		modes map[string]fs.FileMode
	}{{t.Tree, t.Raw, t.Modes}, {now.Tree, now.Raw, now.Modes}} {
		changed, err := s.Repo.DiffTrees(ctx, side.tree, tree)
		if err != nil {
			return out, checkpoint.Classify(err)
		}
		differs := map[string]bool{}
		for _, c := range changed {
			differs[c.Path] = true
		}
		for p, oid := range side.raw {
			if !differs[p] {
				out.Raw[p] = oid
			}
		}
		for p, mode := range side.modes {
			if !differs[p] {
				out.Modes[p] = mode
			}
		}
	}
	return out, nil
}
