package repair

import (
	"cmp"
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
	lost := map[name.OID]checkpoint.Finding{} // that this run or an earlier deep validation found
	trees := false
	for _, f := range slices.Concat(w.known[v.ID], v.Findings) {
		tree := f.Kind == proof.TreeMissing || f.Kind == proof.TreeGarbled
		if oid, err := name.ParseOID(f.Object); err == nil && (tree || f.Kind == proof.BlobMissing || f.Kind == proof.BlobGarbled) {
			lost[oid], trees = f, trees || tree
		}
	}
	oids := slices.Sorted(maps.Keys(lost))
	bad, err := damaged(ctx, w.s.Repo, oids)
	if err != nil || len(bad) == 0 {
		return err
	}
	if trees && v.Record != nil {
		// A capture writes the trees of the worktree. That of a directory that has not changed since the
		// checkpoint is the missing one. If it fails, the worktree is of no help.
		inspect.TreeNow(ctx, w.s, v.Record) //nolint:errcheck // see above
	}
	from, err := w.rescueFiles(ctx, v, bad)
	if err != nil {
		return err
	}
	still, err := damaged(ctx, w.s.Repo, oids)
	for _, oid := range oids {
		if bad[oid] && !still[oid] {
			w.line(v.ID, v.Label).mended(lost[oid], "the content was taken from %s", cmp.Or(from[oid], "the worktree"))
		}
	}
	return err
}

// rescueFiles writes the lost content of files that are where the checkpoint had it, or its outputs came
// from, and returns where each was. Hashing the whole worktree would take too long.
func (w *repairs) rescueFiles(ctx context.Context, v proof.Verdict, lost map[name.OID]bool) (from map[name.OID]string, err error) {
	const most = 100 << 20 // the size of the largest file that is read, in bytes
	var paths []string
	err = w.s.Repo.Trees.Walk(ctx, v.Parts.Commit.Tree, func(path string, e git.Entry) error {
		if lost[e.OID] {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	if v.Record != nil {
		for _, o := range v.Record.Outputs {
			if lost[o.OID] && filepath.IsLocal(string(o.Source)) {
				paths = append(paths, string(o.Source))
			}
		}
	}
	files, err := worktree.Open(w.s.Repo.WorkTree, nil)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	from = map[name.OID]string{}
	for _, path := range paths {
		if info, err := files.Lstat(path); err != nil || info == nil || !info.Mode().IsRegular() || info.Size() > most {
			continue
		}
		data, _, err := files.ReadWhole(path)
		// Hash the raw bytes. A file whose content git converts has another id, and is not found.
		oid := git.HashObject(w.s.Repo.Format, "blob", data)
		if err != nil || !lost[oid] {
			continue
		}
		if _, err := w.s.Repo.Objects.Write(ctx, "blob", data); err != nil {
			return nil, err
		}
		from[oid] = path
	}
	return from, nil
}
