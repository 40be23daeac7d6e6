package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

// The tree of a record commit M.
const (
	recordPath    = "checkpoint.json"
	outputsPath   = "outputs"
	indexPath     = "index"
	flagsPath     = "index-flags"
	conflictsPath = "conflicts"
	rawPath       = "raw"
	importPath    = "import"
)

// Draft is a checkpoint before it is written. All objects that it names exist.
type Draft struct {
	Record  *record.Record // sealed by WriteCheckpoint
	Metrics json.RawMessage
	Limits  record.Limits

	Tree      name.OID
	Head      name.OID            // empty: unborn
	IndexTree name.OID            // empty: not kept
	Outputs   map[string]name.OID // by name, without a slash
	Conflicts []Conflict
	Raw       map[string]name.OID // path → blob of its exact bytes
	Flags     name.OID            // blob: lists of index flags
	Import    map[string]name.OID // what it was imported from, by name without a slash

	Author, Committer git.Signature
	Signing           Signing
}

// Conflict is one unmerged entry of an index.
type Conflict struct {
	Stage int // 1 to 3
	Path  string
	Entry git.Entry
}

// Signing says whether a checkpoint commit gets a signature. The user's
// commit.gpgSign is not asked: it would want a passphrase in the middle of a job.
type Signing int

// The choices.
const (
	SignNever Signing = iota
	SignAlways
)

// Written is what WriteCheckpoint wrote.
type Written struct {
	Commit       name.OID // C
	RecordCommit name.OID // M
	RecordBlob   name.OID
	RecordSize   int64
	Raw          []byte     // the record as stored
	NewObjects   []name.OID // everything that C and M need beside HEAD, to be verified
}

// WriteCheckpoint seals the record and writes M, a commit without parents that
// holds it, and C, the commit of the worktree, whose parents are HEAD and M. It
// writes no ref.
func (s *Store) WriteCheckpoint(ctx context.Context, d Draft) (Written, error) {
	var w Written
	raw, err := record.Seal(d.Record, d.Limits)
	if err != nil {
		return w, fmt.Errorf("seal record: %w", err)
	}
	w.Raw, w.RecordSize = raw, int64(len(raw))
	if w.RecordBlob, err = s.Repo.WriteObject(ctx, "blob", raw); err != nil {
		return w, err
	}
	edits, err := d.edits(w.RecordBlob)
	if err != nil {
		return w, err
	}
	tree, err := s.Repo.EditTree(ctx, "", edits)
	if err != nil {
		return w, fmt.Errorf("write the record's tree: %w", err)
	}
	message := record.Message(d.Record, d.Metrics)
	w.RecordCommit, err = s.Repo.WriteCommit(ctx, git.Commit{
		Tree: tree, Author: d.Author, Committer: d.Committer, Message: "checkpoint record " + string(d.Record.ID) + "\n",
	})
	if err != nil {
		return w, err
	}
	c := git.Commit{Tree: d.Tree, Author: d.Author, Committer: d.Committer, Message: message}
	if d.Head != "" {
		c.Parents = append(c.Parents, d.Head)
	}
	c.Parents = append(c.Parents, w.RecordCommit)
	if w.Commit, err = s.writeCommit(ctx, c, d.Signing); err != nil {
		return w, err
	}
	w.NewObjects, err = s.objectsOf(ctx, tree, d.IndexTree)
	w.NewObjects = append(w.NewObjects, w.RecordCommit, w.Commit, d.Tree)
	return w, err
}

// edits lays out M's tree.
func (d *Draft) edits(recordBlob name.OID) (map[string]git.Entry, error) {
	edits := map[string]git.Entry{recordPath: {Mode: git.ModeFile, OID: recordBlob}}
	for n, oid := range d.Outputs {
		edits[outputsPath+"/"+n] = git.Entry{Mode: git.ModeFile, OID: oid}
	}
	for p, oid := range d.Raw {
		edits[rawPath+"/"+p] = git.Entry{Mode: git.ModeFile, OID: oid}
	}
	for n, oid := range d.Import {
		edits[importPath+"/"+n] = git.Entry{Mode: git.ModeFile, OID: oid}
	}
	for _, c := range d.Conflicts {
		if c.Stage < 1 || c.Stage > 3 {
			return nil, fmt.Errorf("write the record's tree: %q has stage %d", c.Path, c.Stage)
		}
		edits[conflictsPath+"/"+strconv.Itoa(c.Stage)+"/"+c.Path] = git.Entry{Mode: c.Entry.Mode, OID: c.Entry.OID}
	}
	if d.IndexTree != "" {
		edits[indexPath] = git.Entry{Mode: git.ModeTree, OID: d.IndexTree}
	}
	if d.Flags != "" {
		edits[flagsPath] = git.Entry{Mode: git.ModeFile, OID: d.Flags}
	}
	return edits, nil
}

// objectsOf lists what M's tree holds, directories too, less what is inside the
// index tree, which is not ours to list.
func (s *Store) objectsOf(ctx context.Context, tree, index name.OID) ([]name.OID, error) {
	all := []name.OID{tree}
	for next := all; len(next) > 0; {
		level := next
		next = nil
		for _, t := range level {
			entries, err := s.Repo.ReadTree(ctx, t)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
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

// writeCommit writes C, through git where it has to be signed.
func (s *Store) writeCommit(ctx context.Context, c git.Commit, signing Signing) (name.OID, error) {
	if signing == SignNever && s.Signer == nil {
		return s.Repo.WriteCommit(ctx, c)
	}
	var how Signer
	if s.Signer != nil {
		how = *s.Signer
	}
	oid, err := s.sign(ctx, c, how)
	if err != nil {
		return "", fmt.Errorf("checkpoint commit: %w", err)
	}
	return oid, nil
}
