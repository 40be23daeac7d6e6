package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

// Checkpoint is the commit that a checkpoint's ref names, or the session's archive,
// whether or not the commit can be read.
func (s *Store) Checkpoint(ctx context.Context, session name.Session, id name.ID) (name.OID, error) {
	oid, err := s.resolveHeld(ctx, session, id)
	if err == nil && oid == "" {
		err = fmt.Errorf("checkpoint %s of session %q: %w", id, session, ErrNoCheckpoint)
	}
	return oid, err
}

// Record reads and verifies the record of a checkpoint commit, and gives it as
// stored and its commit M. With an error it gives what it got so far: a record
// with a wrong checksum is there to be looked at.
func (s *Store) Record(ctx context.Context, commit name.OID) (*record.Record, []byte, name.OID, error) {
	m, err := s.RecordCommit(ctx, commit)
	if err != nil {
		return nil, nil, "", err
	}
	e, err := s.entry(ctx, m, recordPath)
	if err == nil && e.Mode != git.ModeFile {
		err = &DamagedError{What: "record commit", OID: m, Err: errors.New("it holds no " + recordPath)}
	}
	if err != nil {
		return nil, nil, m, err
	}
	raw, err := s.blob(ctx, "record", e.OID, record.MaxSize)
	if err != nil {
		return nil, nil, m, err
	}
	r, changed, err := record.ParseSealed(raw, record.Limits{})
	if err == nil {
		err = changed
	}
	if err != nil {
		return r, raw, m, &DamagedError{What: "record", OID: e.OID, Err: err}
	}
	return r, raw, m, nil
}

// RecordBlob is the blob of a checkpoint's record, which its note has to be too.
func (s *Store) RecordBlob(ctx context.Context, commit name.OID) (name.OID, error) {
	m, err := s.RecordCommit(ctx, commit)
	if err != nil {
		return "", err
	}
	e, err := s.entry(ctx, m, recordPath)
	return e.OID, err
}

// RecordCommit is M of a checkpoint commit: its last parent, itself without one.
func (s *Store) RecordCommit(ctx context.Context, commit name.OID) (name.OID, error) {
	c, err := s.commit(ctx, "checkpoint commit", commit)
	if err != nil {
		return "", err
	}
	if n := len(c.Parents); n < 1 || n > 2 {
		return "", &DamagedError{What: "checkpoint commit", OID: commit, Err: fmt.Errorf("it has %d parents", n)}
	}
	return c.Parents[len(c.Parents)-1], nil
}

// Output is the content of a named output.
func (s *Store) Output(ctx context.Context, m name.OID, output string) ([]byte, error) {
	e, err := s.entry(ctx, m, outputsPath+"/"+output)
	if err != nil {
		return nil, err
	}
	if e.Mode != git.ModeFile || strings.Contains(output, "/") {
		return nil, fmt.Errorf("output %q: %w", output, ErrNoOutput)
	}
	return s.blob(ctx, "output", e.OID, git.MaxObject)
}

// IndexTree is the staged state, "" when none was kept.
func (s *Store) IndexTree(ctx context.Context, m name.OID) (name.OID, error) {
	e, err := s.entry(ctx, m, indexPath)
	if err != nil || !e.IsTree() {
		return "", err
	}
	return e.OID, nil
}

// Flags is the content of the lists of index flags, nil when none were kept.
func (s *Store) Flags(ctx context.Context, m name.OID) ([]byte, error) {
	e, err := s.entry(ctx, m, flagsPath)
	if err != nil || e.Mode != git.ModeFile {
		return nil, err
	}
	return s.blob(ctx, "list of index flags", e.OID, git.MaxObject)
}

// Conflicts lists the unmerged entries that were kept, sorted by stage and path.
func (s *Store) Conflicts(ctx context.Context, m name.OID) ([]Conflict, error) {
	var out []Conflict
	for stage := 1; stage <= 3; stage++ {
		files, err := s.files(ctx, m, fmt.Sprintf("%s/%d", conflictsPath, stage))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			out = append(out, Conflict{Stage: stage, Path: f.Path, Entry: f.New})
		}
	}
	return out, nil
}

// Raw lists the files whose exact bytes were kept, by path.
func (s *Store) Raw(ctx context.Context, m name.OID) (map[string]git.Entry, error) {
	files, err := s.files(ctx, m, rawPath)
	if err != nil {
		return nil, err
	}
	out := make(map[string]git.Entry, len(files))
	for _, f := range files {
		out[f.Path] = f.New
	}
	return out, nil
}

// files lists what is below a directory of M.
func (s *Store) files(ctx context.Context, m name.OID, dir string) ([]git.Change, error) {
	e, err := s.entry(ctx, m, dir)
	if err != nil || !e.IsTree() {
		return nil, err
	}
	files, err := s.Repo.DiffTrees(ctx, "", e.OID)
	if err != nil {
		return nil, damaged(ctx, "record commit", m, err)
	}
	return files, nil
}

// entry finds a path in M's tree; the zero entry when nothing is there.
func (s *Store) entry(ctx context.Context, m name.OID, path string) (git.Entry, error) {
	c, err := s.commit(ctx, "record commit", m)
	if err != nil {
		return git.Entry{}, err
	}
	if len(c.Parents) > 0 {
		return git.Entry{}, &DamagedError{What: "record commit", OID: m, Err: errors.New("it has parents")}
	}
	e, _, err := s.Repo.Lookup(ctx, c.Tree, path)
	if err != nil {
		return git.Entry{}, damaged(ctx, "record commit", m, err)
	}
	return e, nil
}

func (s *Store) commit(ctx context.Context, what string, oid name.OID) (git.Commit, error) {
	c, err := s.Repo.ReadCommit(ctx, string(oid))
	if err != nil {
		return c, damaged(ctx, what, oid, err)
	}
	return c, nil
}

// blob reads a blob of at most limit bytes; the size is asked for first.
func (s *Store) blob(ctx context.Context, what string, oid name.OID, limit int64) ([]byte, error) {
	err := s.Repo.Batch().Info(ctx, []string{string(oid)}, func(_ int, o git.Object, err error) error {
		if err == nil && o.Size > limit {
			err = fmt.Errorf("it has %d bytes, and %d are the limit", o.Size, limit)
		}
		return err
	})
	if err != nil {
		return nil, damaged(ctx, what, oid, err)
	}
	o, err := s.Repo.Batch().Typed(ctx, string(oid), "blob")
	if err != nil {
		return nil, damaged(ctx, what, oid, err)
	}
	return o.Data, nil
}

// damaged blames the object, unless it was the reading that ended.
func damaged(ctx context.Context, what string, oid name.OID, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &DamagedError{What: what, OID: oid, Err: err}
}

// Imported is the content of a file that a checkpoint was imported from.
func (s *Store) Imported(ctx context.Context, m name.OID, file string) ([]byte, error) {
	e, err := s.entry(ctx, m, importPath+"/"+file)
	if err != nil {
		return nil, err
	}
	if e.Mode != git.ModeFile || strings.Contains(file, "/") {
		return nil, fmt.Errorf("imported file %q: %w", file, ErrNoOutput)
	}
	return s.blob(ctx, "imported file", e.OID, git.MaxObject)
}
