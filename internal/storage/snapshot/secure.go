package snapshot

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// ChangedError says that a file is not the version that was captured, so the restore stops rather
// than lose what was written to it.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%q changed while it was being checked", e.Path)
}

// preserver keeps what a restore replaces.
type preserver struct{ converter }

// Secure makes sure that the restore can be undone exactly. It compares every file that the plan
// replaces or deletes with what a checkout of the capture would give, and adds the exact bytes to
// the capture's Raw where they differ. A file that changed since the capture is a ChangedError.
//
// It returns the permission bits of files that are not those of a new file, and of directories
// that may go, for the safety checkpoint; the names of directories end in "/".
func (s *preserver) Secure(ctx context.Context, p *Plan) (map[string]fs.FileMode, error) {
	modes := map[string]fs.FileMode{}
	usual, err := s.usualModes()
	if err != nil {
		return nil, err
	}
	var files []candidate
	entries := map[string]git.Entry{}
	for _, o := range p.Ops {
		info := p.seen[o.Path]
		if o.Old.Mode == 0 || info == nil {
			continue
		}
		files = append(files, candidate{path: o.Path, mode: s.modeOf(info, o.Old.Mode), size: info.Size()})
		entries[o.Path] = o.Old
		if info.Mode().IsRegular() && !s.noModes && info.Mode().Perm() != usual(o.Old.Mode) {
			modes[o.Path] = info.Mode().Perm()
		}
	}
	for d, perm := range s.emptied(p.Ops) {
		if unusual(perm) && !s.noModes {
			modes[d+"/"] = perm
		}
	}
	attrs, err := s.attributes(ctx, p.Cur.Tree, entries)
	if err != nil {
		return nil, err
	}
	if len(attrs) > 0 || s.mayConvert(nil, files) {
		if err := s.secureConverted(ctx, p, files, entries, attrs); err != nil {
			return nil, err
		}
	} else if err := s.compareHashes(ctx, p, files, entries); err != nil {
		return nil, err
	}
	for i := range p.Ops {
		p.Ops[i].OldRaw = p.Cur.Raw[p.Ops[i].Path]
	}
	return modes, nil
}

// emptied returns the directories that deletions may leave empty, with their permission bits.
func (s *checkout) emptied(ops []Op) map[string]fs.FileMode {
	dirs, out := map[string]bool{}, map[string]fs.FileMode{}
	worktree.AddAbove(dirs, pathsTo(ops, OpDelete)...)
	delete(dirs, ".")
	for d := range dirs {
		if info, err := s.files.Lstat(d); err == nil && info != nil && info.IsDir() {
			out[d] = info.Mode().Perm()
		}
	}
	return out
}

// secureConverted is the comparison where git may convert files. Those that a checkout converts are
// compared with their checkout, the others by hash.
func (s *preserver) secureConverted(ctx context.Context, p *Plan, files []candidate, entries, attrs map[string]git.Entry) error {
	index, err := s.listIndex(ctx, entries, attrs)
	if err != nil {
		return err
	}
	defer os.Remove(index) //nolint:errcheck // disposable
	affected, err := s.affected(ctx, index, slices.Collect(maps.Keys(attrs)), files)
	if err != nil {
		return err
	}
	// A blob is checked out as it is where git only converts files on their way into it.
	affected = slices.DeleteFunc(affected, func(f filtered) bool { return f.inOnly })
	plain := gather.List(unaffected(files, affected), func(f filtered) candidate { return f.candidate })
	if err := s.cleanAgain(ctx, entries); err != nil {
		return err
	}
	if err := s.keepRawOf(ctx, index, affected, entries, p.Cur); err != nil {
		return err
	}
	return s.compareHashes(ctx, p, plain, entries)
}

// compareHashes checks files that git does not convert: the file must be the blob, byte for byte. A blob that the
// repository has lost is written again.
//
// If it is not, there are two explanations. It was converted once, by attributes that are gone;
// then its bytes are kept in Raw. Or it changed after the capture, which its ctime shows.
func (s *preserver) compareHashes(ctx context.Context, p *Plan, files []candidate, entries map[string]git.Entry) error {
	type read struct {
		oid  name.OID
		info fs.FileInfo
		err  error
	}
	reads := make([]read, len(files))
	git.Each(len(files), func(i int) error { //nolint:errcheck // the errors are in reads, and the first one is enough
		r := &reads[i]
		r.oid, r.info, r.err = s.files.HashWhole(s.repo.Format, files[i].path)
		return nil
	})
	gone, err := s.repo.Objects.Batch().Missing(ctx, gather.List(files, func(f candidate) name.OID { return entries[f.path].OID }))
	if err != nil {
		return err
	}
	for i, f := range files {
		got, info, err := reads[i].oid, reads[i].info, reads[i].err
		if err != nil {
			return fmt.Errorf("read %q: %w", f.path, err)
		}
		if info == nil || !worktree.Same(info, p.seen[f.path]) {
			return &ChangedError{f.path}
		}
		same, link := got == entries[f.path].OID, worktree.ModeOf(info) == git.ModeSymlink
		if same && (link || !gone[got]) || got == p.Cur.Raw[f.path] {
			continue
		}
		if !same && (link || worktree.ChangeTime(info).After(p.Cur.Began)) {
			return &ChangedError{f.path}
		}
		oid, _, err := s.streamBlob(ctx, f.path)
		if err != nil {
			return fmt.Errorf("keep the bytes of %q: %w", f.path, err)
		}
		if oid != got {
			return &ChangedError{f.path}
		}
		if !same { // else the repository had lost it
			p.Cur.Raw[f.path] = got
		}
		p.Cur.New = append(p.Cur.New, got)
	}
	return nil
}
