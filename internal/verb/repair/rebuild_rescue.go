package repair

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/verb/inspect"
)

// rescue looks in the worktree for the content of missing objects. A file whose content has the id
// of a missing object is that object, whoever wrote it.
func (w *repairs) rescue(ctx context.Context, v proof.Verdict) error {
	if err := w.rescueTrees(ctx, v); err != nil {
		return err
	}
	return w.rescueBlobs(ctx, v)
}

// lostObjects returns the objects of a checkpoint that are missing or garbled, among those that a
// finding of one of these kinds names, in this run or in an earlier deep validation.
func (w *repairs) lostObjects(ctx context.Context, v proof.Verdict, kinds ...proof.Kind) (map[name.OID]checkpoint.Finding, error) {
	told := map[name.OID]checkpoint.Finding{}
	for _, f := range slices.Concat(w.known[v.ID], v.Findings) {
		if oid, err := name.ParseOID(f.Object); err == nil && slices.Contains(kinds, f.Kind) {
			told[oid] = f
		}
	}
	bad, err := damaged(ctx, w.s, slices.Collect(maps.Keys(told)))
	maps.DeleteFunc(told, func(oid name.OID, _ checkpoint.Finding) bool { return !bad[oid] })
	return told, err
}

// rescueTrees writes trees for the worktree as it is now. If a directory has not changed since the
// checkpoint, its tree is the missing one.
func (w *repairs) rescueTrees(ctx context.Context, v proof.Verdict) error {
	lost, err := w.lostObjects(ctx, v, proof.TreeMissing, proof.TreeGarbled)
	if err != nil || len(lost) == 0 || v.Record == nil {
		return err
	}
	// TreeNow writes the trees as a side effect of capturing.
	if _, err := inspect.TreeNow(ctx, w.s, v.Record); err != nil {
		return ctx.Err() // otherwise the worktree is of no help
	}
	still, err := w.lostObjects(ctx, v, proof.TreeMissing, proof.TreeGarbled)
	if err != nil {
		return err
	}
	for oid, f := range lost {
		if _, is := still[oid]; !is {
			w.line(v.ID, v.Label).mended(f, "the tree was written again from the worktree")
		}
	}
	return nil
}

// rescueBlobs reads the files at the paths where the checkpoint had the lost content.
func (w *repairs) rescueBlobs(ctx context.Context, v proof.Verdict) error {
	const maxRescued = 100 << 20 // the size of the largest file that is read in search of lost content, in bytes
	lost, err := w.lostObjects(ctx, v, proof.BlobMissing, proof.BlobGarbled)
	if err != nil || len(lost) == 0 {
		return err
	}
	// Hashing the whole worktree would take too long, so only likely paths are read.
	paths, err := w.places(ctx, v, lost)
	if err != nil {
		return err
	}
	files, err := worktree.Open(w.s.Repo.WorkTree, nil)
	if err != nil {
		return err
	}
	defer files.Close()
	for _, path := range paths {
		if info, err := files.Lstat(path); err != nil || info == nil || !info.Mode().IsRegular() || info.Size() > maxRescued {
			continue
		}
		data, _, err := files.ReadWhole(path)
		// Hash the raw bytes. A file whose content git converts has another id, and is not found.
		oid := git.HashObject(w.s.Repo.Format, "blob", data)
		f, wanted := lost[oid]
		if err != nil || !wanted {
			continue
		}
		if _, err := w.s.Repo.Objects.Write(ctx, "blob", data); err != nil {
			return err
		}
		w.line(v.ID, v.Label).mended(f, "the content was taken from %s", path)
		delete(lost, oid)
	}
	return nil
}

// places returns the paths where lost content may still be: those where the checkpoint had it, and
// the sources of its outputs.
func (w *repairs) places(ctx context.Context, v proof.Verdict, lost map[name.OID]checkpoint.Finding) ([]string, error) {
	var paths []string
	files, err := w.s.Repo.Trees.Diff(ctx, "", v.Parts.Commit.Tree)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	for _, f := range files {
		if _, is := lost[f.New.OID]; is {
			paths = append(paths, f.Path)
		}
	}
	if v.Record != nil {
		for _, o := range v.Record.Outputs {
			if _, is := lost[o.OID]; is && filepath.IsLocal(string(o.Source)) {
				paths = append(paths, string(o.Source))
			}
		}
	}
	return paths, nil
}
