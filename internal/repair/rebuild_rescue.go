package repair

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/proof"
)

// maxRescued is the largest file that is looked at for lost content.
const maxRescued = 100 << 20

// rescue looks in the worktree for the content of objects that are missing: what has the
// id of one is it, wherever it stands.
func (w *repairs) rescue(ctx context.Context, v proof.Verdict) error {
	if err := w.rescueTrees(ctx, v); err != nil {
		return err
	}
	return w.rescueBlobs(ctx, v)
}

// rescueTrees writes the trees of the worktree as it is now; what was missing may be
// among them.
func (w *repairs) rescueTrees(ctx context.Context, v proof.Verdict) error {
	wanted := map[name.OID]checkpoint.Finding{}
	var oids []string
	for _, f := range append(w.known[v.ID], v.Findings...) {
		if oid, err := name.ParseOID(f.Object); err == nil && (f.Kind == proof.TreeMissing || f.Kind == proof.TreeGarbled) {
			wanted[oid], oids = f, append(oids, string(oid))
		}
	}
	lost := map[name.OID]bool{}
	if err := prove(ctx, w.s, oids, func(oid name.OID) { lost[oid] = true }); err != nil || len(lost) == 0 || v.Record == nil {
		return err
	}
	if _, err := inspect.TreeNow(ctx, w.s, v.Record); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return nil //nolint:nilerr // then the worktree is of no help
	}
	still := map[name.OID]bool{}
	if err := prove(ctx, w.s, oids, func(oid name.OID) { still[oid] = true }); err != nil {
		return err
	}
	for oid := range lost {
		if !still[oid] {
			w.line(v.ID, v.Label).mended(wanted[oid], "the tree was written again from the worktree")
		}
	}
	return nil
}

func (w *repairs) rescueBlobs(ctx context.Context, v proof.Verdict) error {
	wanted := map[name.OID]checkpoint.Finding{}
	for _, f := range append(w.known[v.ID], v.Findings...) {
		if oid, err := name.ParseOID(f.Object); err == nil && (f.Kind == proof.BlobMissing || f.Kind == proof.BlobGarbled) {
			wanted[oid] = f
		}
	}
	oids := make([]string, 0, len(wanted))
	for oid := range wanted {
		oids = append(oids, string(oid))
	}
	lost := map[name.OID]bool{}
	if err := prove(ctx, w.s, oids, func(oid name.OID) { lost[oid] = true }); err != nil || len(lost) == 0 {
		return err
	}
	paths, err := w.places(ctx, v, lost)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(w.s.Repo.WorkTree)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only read from
	for _, path := range paths {
		data, err := readUpTo(root, path, maxRescued)
		oid := git.HashObject(w.s.Repo.Format, "blob", data)
		if err != nil || !lost[oid] {
			continue
		}
		if _, err := w.s.Repo.WriteObject(ctx, "blob", data); err != nil {
			return err
		}
		w.line(v.ID, v.Label).mended(wanted[oid], "the content was taken from %s", path)
		delete(lost, oid)
	}
	return nil
}

// places are the paths where lost content may still stand: where the checkpoint had it.
func (w *repairs) places(ctx context.Context, v proof.Verdict, lost map[name.OID]bool) ([]string, error) {
	var paths []string
	files, err := w.s.Repo.DiffTrees(ctx, "", v.Parts.Commit.Tree)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	for _, f := range files {
		if lost[f.New.OID] {
			paths = append(paths, f.Path)
		}
	}
	if v.Record != nil {
		for _, o := range v.Record.Outputs {
			if lost[o.OID] && filepath.IsLocal(string(o.Source)) {
				paths = append(paths, string(o.Source))
			}
		}
	}
	return paths, nil
}

// readUpTo reads a file below a directory, whatever links there are; a larger one is an
// error.
func readUpTo(root *os.Root, path string, most int64) ([]byte, error) {
	info, err := root.Lstat(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, os.ErrInvalid
	}
	f, err := root.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, most))
}
