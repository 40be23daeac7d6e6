package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
)

// Stored is a record with how it is stored.
type Stored struct {
	Record *record.Record
	Raw    []byte   // its bytes
	Commit name.OID // M, the record commit
}

// Record reads and verifies the record of a checkpoint commit. If there is an error, it returns what
// it has read up to then: a caller may want to show a record with a wrong checksum.
func (s *records) Record(ctx context.Context, commit name.OID) (*record.Record, error) {
	got, err := s.Stored(ctx, commit)
	return got.Record, err
}

// Stored is Record for callers that also need how the record is stored.
func (s *records) Stored(ctx context.Context, commit name.OID) (got Stored, err error) {
	if got.Commit, err = s.RecordCommit(ctx, commit); err != nil {
		return got, err
	}
	if known, is := s.recent(got.Commit); is {
		return known, nil
	}
	e, err := s.entry(ctx, got.Commit, RecordPath)
	if err == nil && e.Mode != git.ModeFile {
		err = &DamagedError{What: "record commit", OID: got.Commit, Err: errors.New("it does not contain " + RecordPath)}
	}
	if err != nil {
		return got, err
	}
	if got.Raw, err = s.blob(ctx, "record", e.OID, record.MaxSize); err != nil {
		return got, err
	}
	// changed is the error of a record that can be parsed but has a wrong checksum.
	rec, changed, err := record.ParseSealed(got.Raw)
	if err == nil {
		err = changed
	}
	got.Record = rec
	if err != nil {
		return got, &DamagedError{What: "record", OID: e.OID, Err: err}
	}
	if len(got.Raw) > largeRecord {
		s.cacheSummary(ctx, commit, got.Commit, e.OID, rec)
		got, _ = s.recent(got.Commit, got)
	}
	return got, nil
}

// recent returns the large record of a record commit if it is among the last two, to which it adds first.
func (s *records) recent(commit name.OID, add ...Stored) (got Stored, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.large = slices.Concat(add, s.large)
	s.large = s.large[:min(2, len(s.large))]
	i := slices.IndexFunc(s.large, func(r Stored) bool { return r.Commit == commit })
	if i < 0 {
		return got, false
	}
	got = s.large[i]
	record := *got.Record // callers change members of theirs
	got.Record = &record
	return got, true
}

// contents reads what the commits of a checkpoint hold.
type contents struct{ repo *git.Repo }

// RecordBlob returns the blob of a checkpoint's record. The checkpoint's note must be the same
// blob.
func (s *contents) RecordBlob(ctx context.Context, commit name.OID) (name.OID, error) {
	m, err := s.RecordCommit(ctx, commit)
	if err != nil {
		return "", err
	}
	e, err := s.entry(ctx, m, RecordPath)
	return e.OID, err
}

// RecordCommit returns M of a checkpoint commit, which is its last parent. It does not read M.
func (s *contents) RecordCommit(ctx context.Context, commit name.OID) (name.OID, error) {
	c, err := s.commit(ctx, "checkpoint commit", commit)
	if err != nil {
		return "", err
	}
	if n := len(c.Parents); n < 1 || n > 2 {
		return "", &DamagedError{What: "checkpoint commit", OID: commit, Err: fmt.Errorf("it has %d parents", n)}
	}
	return c.Parents[len(c.Parents)-1], nil
}

// Output returns the content of an output. m is the record commit, here and in the functions below.
func (s *contents) Output(ctx context.Context, m name.OID, output string) ([]byte, error) {
	return s.fileIn(ctx, m, OutputsPath, "output", output)
}

// Imported returns the content of a file that a checkpoint was imported from. file is the name in
// M's import directory.
func (s *contents) Imported(ctx context.Context, m name.OID, file string) ([]byte, error) {
	return s.fileIn(ctx, m, ImportPath, "imported file", file)
}

// fileIn returns the content of a file in a directory of M. what names it in the error.
func (s *contents) fileIn(ctx context.Context, m name.OID, dir, what, file string) ([]byte, error) {
	e, err := s.entry(ctx, m, dir+"/"+file)
	if err != nil {
		return nil, err
	}
	if e.Mode != git.ModeFile || strings.Contains(file, "/") {
		return nil, fmt.Errorf("%s %q: %w", what, file, ErrNoOutput)
	}
	return s.blob(ctx, what, e.OID, git.MaxObject)
}

// IndexTree returns the tree of what was staged, or "" if that was not captured.
func (s *contents) IndexTree(ctx context.Context, m name.OID) (name.OID, error) {
	e, err := s.entry(ctx, m, IndexPath)
	if err != nil || !e.IsTree() {
		return "", err
	}
	return e.OID, nil
}

// Trees returns the trees of a checkpoint commit that a rollback may write: that of its files and, if it was
// captured, that of what was staged.
func (s *contents) Trees(ctx context.Context, commit name.OID) ([]name.OID, error) {
	c, err := s.commit(ctx, "checkpoint commit", commit)
	if err != nil {
		return nil, err
	}
	trees := []name.OID{c.Tree}
	if m, err := s.RecordCommit(ctx, commit); err == nil {
		if index, err := s.IndexTree(ctx, m); err == nil && index != "" {
			trees = append(trees, index)
		}
	}
	return trees, nil
}

// SkipWorktree returns the skip-worktree paths in the list of index flags, which docs/format.md
// describes ("index-flags"). It skips lines with other letters.
func (s *contents) SkipWorktree(ctx context.Context, m name.OID) (paths []string, err error) {
	e, err := s.entry(ctx, m, FlagsPath)
	if err != nil || e.Mode != git.ModeFile {
		return nil, err
	}
	flags, err := s.blob(ctx, "list of index flags", e.OID, git.MaxObject)
	for one := range strings.SplitSeq(string(flags), "\x00") {
		if path, is := strings.CutPrefix(one, "S "); is {
			paths = append(paths, path)
		}
	}
	return paths, err
}

// Conflicts returns the unmerged index entries, sorted by stage and path.
func (s *contents) Conflicts(ctx context.Context, m name.OID) ([]git.Unmerged, error) {
	d, err := s.part(ctx, m, ConflictsPath)
	return d.Conflicts, err
}

// Raw returns the blobs with the exact bytes of files, by path.
func (s *contents) Raw(ctx context.Context, m name.OID) (map[string]name.OID, error) {
	d, err := s.part(ctx, m, RawPath)
	return d.Raw, err
}

// part returns a draft with what a directory of M holds.
func (s *contents) part(ctx context.Context, m name.OID, dir string) (d Draft, err error) {
	e, err := s.entry(ctx, m, dir)
	if err != nil || !e.IsTree() {
		return d, err
	}
	if err := s.ReadPart(ctx, e, &d); err != nil {
		return d, damaged(ctx, "record commit", m, err)
	}
	return d, nil
}

// ReadPart reads into d what an entry of M's tree holds beside the record.
func (s *contents) ReadPart(ctx context.Context, part git.Entry, d *Draft) error {
	files := func(to *map[string]name.OID) error {
		*to = map[string]name.OID{}
		return s.repo.Trees.Walk(ctx, part.OID, func(file string, e git.Entry) error {
			(*to)[file] = e.OID
			return nil
		})
	}
	switch part.Name {
	case IndexPath:
		d.IndexTree = part.OID
	case FlagsPath:
		d.Flags = part.OID
	case OutputsPath:
		return files(&d.Outputs)
	case RawPath:
		return files(&d.Raw)
	case ImportPath:
		return files(&d.Import)
	case ConflictsPath:
		return s.repo.Trees.Walk(ctx, part.OID, func(file string, e git.Entry) error {
			stage, path, _ := strings.Cut(file, "/")
			if at := slices.Index([]string{"1", "2", "3"}, stage); at >= 0 { // git knows no others
				d.Conflicts = append(d.Conflicts, git.Unmerged{Stage: at + 1, Path: path, Entry: e})
			}
			return nil
		})
	}
	return nil
}

// entry returns the entry at a path in M's tree. It is the zero Entry if nothing is there. A record
// commit with parents is damaged: somebody could hide history in it.
func (s *contents) entry(ctx context.Context, m name.OID, path string) (git.Entry, error) {
	c, err := s.commit(ctx, "record commit", m)
	if err != nil {
		return git.Entry{}, err
	}
	if len(c.Parents) > 0 {
		return git.Entry{}, &DamagedError{What: "record commit", OID: m, Err: errors.New("it has parents")}
	}
	e, _, err := s.repo.Trees.Lookup(ctx, c.Tree, path)
	if err != nil {
		return git.Entry{}, damaged(ctx, "record commit", m, err)
	}
	return e, nil
}

// commit reads a commit. what names it in the error.
func (s *contents) commit(ctx context.Context, what string, oid name.OID) (git.Commit, error) {
	c, err := s.repo.Commits.Read(ctx, string(oid))
	if err != nil {
		return c, damaged(ctx, what, oid, err)
	}
	return c, nil
}

// blob reads a blob of at most limit bytes. It asks for the size first, so that a hostile blob does
// not fill the memory.
func (s *contents) blob(ctx context.Context, what string, oid name.OID, limit int64) ([]byte, error) {
	err := s.repo.Objects.Batch().Info(ctx, []string{string(oid)}, func(_ int, o git.Object, err error) error {
		if err == nil && o.Size > limit {
			err = fmt.Errorf("it has %d bytes; the limit is %d", o.Size, limit)
		}
		return err
	})
	if err != nil {
		return nil, damaged(ctx, what, oid, err)
	}
	o, err := s.repo.Objects.Batch().Typed(ctx, string(oid), "blob")
	if err != nil {
		return nil, damaged(ctx, what, oid, err)
	}
	return o.Data, nil
}

// damaged returns a DamagedError, or the cause of ctx if ctx has ended: then the object is not to
// blame.
func damaged(ctx context.Context, what string, oid name.OID, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &DamagedError{What: what, OID: oid, Err: err}
}
