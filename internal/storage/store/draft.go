package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
)

// The paths in the tree of a record commit M. See docs/format.md.
const (
	RecordPath    = "checkpoint.json"
	OutputsPath   = "outputs"
	IndexPath     = "index"
	FlagsPath     = "index-flags"
	ConflictsPath = "conflicts"
	RawPath       = "raw"
	ImportPath    = "import"
)

// Draft is a checkpoint that is not written yet. All objects that it names must exist.
type Draft struct {
	Record  *record.Record  // WriteCheckpoint sets its checksum
	Metrics json.RawMessage // part of the state; shown in the commit message
	Limits  record.Limits

	Tree      name.OID            // the captured worktree, the tree of C; empty: no files were captured
	Head      name.OID            // the first parent of C; empty: the branch is unborn
	IndexTree name.OID            // what was staged; empty: not captured
	Outputs   map[string]name.OID // blobs by name; a name has no slash
	Conflicts []git.Unmerged
	Raw       map[string]name.OID // by path: blobs with the exact bytes of files
	Flags     name.OID            // blob with the index flags, or empty
	Import    map[string]name.OID // blobs of the files that it was imported from, by name without a slash

	Author, Committer git.Signature
}

// Written is what WriteCheckpoint has written.
type Written struct {
	Commit       name.OID // the checkpoint commit C
	RecordCommit name.OID // the record commit M
	RecordBlob   name.OID
	Raw          []byte     // the record as stored
	NewObjects   []name.OID // what C and M need in addition to HEAD, for Change.Verify
}

// composer writes the commits of a checkpoint.
type composer struct {
	repo   *git.Repo
	Signer *Signer // nil: nothing is signed
}

// WriteCheckpoint seals the record (computes its checksum) and writes two commits: M, which has no
// parents and holds the record, and C, which has the worktree as its tree, and HEAD and M as
// parents. It writes no refs, so what it wrote is unreachable until a transaction creates the ref
// of C.
func (s *composer) WriteCheckpoint(ctx context.Context, d Draft) (Written, error) {
	var w Written
	raw, err := record.Seal(d.Record, d.Limits)
	if err != nil {
		return w, fmt.Errorf("seal record: %w", err)
	}
	w.Raw = raw
	if w.RecordBlob, err = s.repo.Objects.Write(ctx, "blob", raw); err != nil {
		return w, err
	}
	m, err := s.ComposeRecord(ctx, &d, w.RecordBlob)
	if err != nil {
		return w, err
	}
	if w.RecordCommit, err = s.repo.Commits.Write(ctx, m); err != nil {
		return w, err
	}
	if d.Tree == "" {
		if d.Tree, err = s.repo.Objects.Write(ctx, "tree", nil); err != nil {
			return w, err
		}
	}
	// HEAD comes first, so that git shows C as a commit on top of it. M is always the last parent.
	c := git.Commit{Tree: d.Tree, Author: d.Author, Committer: d.Committer, Message: record.Message(d.Record, d.Metrics)}
	if d.Head != "" {
		c.Parents = append(c.Parents, d.Head)
	}
	c.Parents = append(c.Parents, w.RecordCommit)
	if w.Commit, err = s.writeCommit(ctx, c); err != nil {
		return w, err
	}
	w.NewObjects, err = s.objectsOf(ctx, m.Tree, d.IndexTree)
	w.NewObjects = append(w.NewObjects, w.RecordCommit, w.Commit, d.Tree)
	return w, err
}

// ComposeRecord returns the record commit M of a draft, for the stored record. It writes M's tree, and
// not M itself.
func (s *composer) ComposeRecord(ctx context.Context, d *Draft, recordBlob name.OID) (git.Commit, error) {
	m := git.Commit{Author: d.Author, Committer: d.Committer, Message: "checkpoint record " + string(d.Record.ID) + "\n"}
	edits := map[string]git.Entry{RecordPath: {Mode: git.ModeFile, OID: recordBlob}}
	for dir, files := range map[string]map[string]name.OID{OutputsPath: d.Outputs, RawPath: d.Raw, ImportPath: d.Import} {
		for path, oid := range files {
			edits[dir+"/"+path] = git.Entry{Mode: git.ModeFile, OID: oid}
		}
	}
	for _, c := range d.Conflicts {
		if c.Stage < 1 || c.Stage > 3 {
			return m, fmt.Errorf("write the record's tree: %q has stage %d", c.Path, c.Stage)
		}
		edits[ConflictsPath+"/"+strconv.Itoa(c.Stage)+"/"+c.Path] = git.Entry{Mode: c.Entry.Mode, OID: c.Entry.OID}
	}
	// The index tree exists already and is added as a whole.
	if d.IndexTree != "" {
		edits[IndexPath] = git.Entry{Mode: git.ModeTree, OID: d.IndexTree}
	}
	if d.Flags != "" {
		edits[FlagsPath] = git.Entry{Mode: git.ModeFile, OID: d.Flags}
	}
	var err error
	if m.Tree, err = s.repo.Trees.Edit(ctx, "", edits); err != nil {
		return m, fmt.Errorf("write the record's tree: %w", err)
	}
	return m, nil
}

// objectsOf lists the objects in M's tree, directories included. It does not look into the index
// tree: those objects existed before.
func (s *composer) objectsOf(ctx context.Context, tree, index name.OID) ([]name.OID, error) {
	all := []name.OID{tree}
	for next := all; len(next) > 0; {
		level := next
		next = nil
		for _, t := range level {
			entries, err := s.repo.Trees.Read(ctx, t)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				// The commit of a gitlink is in another repository.
				if e.Mode == git.ModeGitlink {
					continue
				}
				all = append(all, e.OID)
				if e.IsTree() && e.OID != index {
					next = append(next, e.OID)
				}
			}
		}
	}
	return all, nil
}

// writeCommit writes C: in this process, or with git if it has to be signed.
func (s *composer) writeCommit(ctx context.Context, c git.Commit) (name.OID, error) {
	if s.Signer == nil {
		return s.repo.Commits.Write(ctx, c)
	}
	oid, err := s.sign(ctx, c, *s.Signer)
	if err != nil {
		return "", fmt.Errorf("checkpoint commit: %w", err)
	}
	return oid, nil
}
