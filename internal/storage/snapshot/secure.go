package snapshot

import (
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
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
	for _, p := range pathsTo(ops, OpDelete) {
		worktree.AddAbove(dirs, p)
	}
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
	var plain []candidate
	for _, f := range unaffected(files, affected) {
		plain = append(plain, f.candidate)
	}
	if err := s.cleanAgain(ctx, entries); err != nil {
		return err
	}
	if err := s.keepRawOf(ctx, index, affected, entries, p.Cur); err != nil {
		return err
	}
	return s.compareHashes(ctx, p, plain, entries)
}

// compareHashes checks files that git does not convert: the file must be the blob, byte for byte.
//
// If it is not, there are two explanations. It was converted once, by attributes that are gone;
// then its bytes are kept in Raw. Or it changed after the capture, which its ctime shows.
func (s *preserver) compareHashes(ctx context.Context, p *Plan, files []candidate, entries map[string]git.Entry) error {
	for _, f := range files {
		got, info, err := s.files.HashWhole(s.repo.Format, f.path)
		if err != nil {
			return fmt.Errorf("read %q: %w", f.path, err)
		}
		if info == nil || !worktree.Same(info, p.seen[f.path]) {
			return &ChangedError{f.path}
		}
		if got == entries[f.path].OID || got == p.Cur.Raw[f.path] {
			continue
		}
		if worktree.ModeOf(info) == git.ModeSymlink || worktree.ChangeTime(info).After(p.Cur.Began) {
			return &ChangedError{f.path}
		}
		oid, _, err := s.streamBlob(ctx, f.path)
		if err != nil {
			return fmt.Errorf("keep the bytes of %q: %w", f.path, err)
		}
		if oid != got {
			return &ChangedError{f.path}
		}
		p.Cur.Raw[f.path] = got
		p.Cur.New = append(p.Cur.New, got)
	}
	return nil
}

// attributes returns the .gitattributes files of a tree that apply to any of paths: those in
// their directories and all directories above.
func (s *converter) attributes(ctx context.Context, tree name.OID, paths map[string]git.Entry) (map[string]git.Entry, error) {
	out := map[string]git.Entry{}
	dirs := map[string]bool{}
	for p := range paths {
		worktree.AddAbove(dirs, p)
	}
	for dir := range dirs {
		file := path.Join(dir, ".gitattributes")
		e, ok, err := s.repo.Lookup(ctx, tree, file)
		if err != nil {
			return nil, err
		}
		if ok && regular(e.Mode) {
			out[file] = e
		}
	}
	return out, nil
}

// listIndex makes a private index that holds exactly these entries, and returns its path. The
// caller must remove it.
func (s *indexes) listIndex(ctx context.Context, lists ...map[string]git.Entry) (string, error) {
	all := map[string]git.Entry{}
	for _, list := range lists {
		maps.Copy(all, list)
	}
	return s.scratchIndex(ctx, s.entryLines(all))
}

// scratchIndex makes a private index from lines for putInfo, and returns its path. The caller must
// remove it.
func (s *indexes) scratchIndex(ctx context.Context, lines string) (string, error) {
	index := filepath.Join(s.scratch, "tmp-index-"+rand.Text())
	if err := s.putInfo(ctx, index, lines); err != nil {
		return "", fmt.Errorf("make a private index: %w", err)
	}
	return index, nil
}

// entryLines returns lines for putInfo that set entries. Those with mode 0 are removed first, since a
// directory may be in the place of such a file.
func (s *indexes) entryLines(entries map[string]git.Entry) string {
	var gone []string
	var in strings.Builder
	for _, p := range slices.Sorted(maps.Keys(entries)) {
		if entries[p].Mode == 0 {
			gone = append(gone, p)
		} else {
			in.WriteString(git.InfoLine(entries[p], 0, p))
		}
	}
	return s.removals(gone) + in.String()
}

// AllowedBits returns the permission bits that a recorded mode may set: all of the owner, and those of
// group and others that the umask and core.sharedRepository leave.
func (s *checkout) AllowedBits() (fs.FileMode, error) {
	usual, err := s.usualModes()
	if err != nil {
		return 0, err
	}
	return 0o700 | usual(git.ModeExec) | s.repo.SharedBits(), nil
}

// usualModes returns the permission bits that a new file gets here, by its mode in git. It creates
// a file to find out, as reading the umask would have to change it for a moment.
func (s *checkout) usualModes() (func(git.Mode) fs.FileMode, error) {
	name := s.scratch + "/tmp-mode-" + worktree.RandomHex()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o777)
	var info fs.FileInfo
	if err == nil {
		info, err = f.Stat()
		f.Close()       //nolint:errcheck // empty
		os.Remove(name) //nolint:errcheck // disposable
	}
	if err != nil {
		return nil, fmt.Errorf("probe the umask: %w", err)
	}
	return func(m git.Mode) fs.FileMode {
		if m == git.ModeExec {
			return info.Mode().Perm()
		}
		return info.Mode().Perm() &^ 0o111
	}, nil
}
