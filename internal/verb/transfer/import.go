package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
)

// Documents of other systems come in as the values in this file. A reader in package
// interop parses a layout and fills in an ImportSession per session. Import makes
// checkpoints and events of them:
//
//   import_map.go    keeps in mind what the session has after each step, and looks up the commits and
//                    branches that documents name
//   import_build.go  decides which documents are new, changed or known, and writes records, objects and
//                    events of what is new, in one transaction per session
//
// An import can be repeated: documents are recognised by key and digest, so only what is
// new is added.

// ImportSession is one session of another system.
type ImportSession struct {
	Format  string // name of the layout, such as "go-team", and of the workflow of a new session
	Session string
	Topic   string
	Branch  string // short name; recorded only if the branch exists here
	// The status with which it was closed; empty: it is open.
	Status    string
	CreatedAt time.Time
	Steps     []ImportStep // documents and rollbacks, in the order of the journal
	Current   string       // key of the current document; empty: the last one
	Beside    []ImportFile // other files of the layout, kept unchanged with each checkpoint

	// Known are the documents that an export of this session's own checkpoints would write,
	// by key. Importing them back must not duplicate the checkpoints.
	Known map[string]KnownDocument
}

// KnownDocument is one of this repository's own checkpoints in the form of a document.
type KnownDocument struct {
	ID     name.ID
	Digest string
}

// ImportStep is either a document or a rollback. Exactly one of the fields is set.
type ImportStep struct {
	Document *ImportDocument
	Rollback *ImportRollback
}

// ImportDocument is one checkpoint of another system.
type ImportDocument struct {
	Key   string // the name that its own system uses within the session
	OwnID string // the id inside the document; empty if it has none
	// Where the document is in the layout.
	Path string
	JSON json.RawMessage
	Kept []ImportFile // the document's files, unchanged

	At time.Time
	// Step and Label are used as they are if both are set. Otherwise the workflow assigns
	// the place.
	Step      *int
	StepName  string
	Iteration string
	Label     string // empty: derived from step and name
	Hangs     bool   // it is not a milestone, whatever the workflow says
	// Empty: the document's own, else phase_transition.
	Trigger string
	Message string
	Outputs []ImportFile // named contents
	// The commit named in the document, possibly abbreviated.
	Commit string
	Branch string

	Created, Modified, Deleted []string // paths as the document lists them
}

// ImportFile is a file with its content. Name has no slash.
type ImportFile struct {
	Name    string
	Content []byte
}

// ImportRollback is one entry of another system's rollback history. From and To are keys or
// labels.
type ImportRollback struct {
	From, To string
	At       time.Time
	Reason   string
}

// Imported reports what an import did with one document, or would do in a dry run.
type Imported struct {
	Session name.Session    `json:"session"`
	Key     string          `json:"key"`
	Path    string          `json:"path"`
	Action  string          `json:"action"` // added, changed, unchanged
	ID      name.ID         `json:"id"`     // empty in a dry run
	Label   string          `json:"label"`
	Step    int             `json:"step"`
	At      checkpoint.Time `json:"created_at"`
	Commit  name.OID        `json:"commit"` // the commit it is linked with; empty: none
}

// The values of Action.
const (
	ImportAdded     = "added"
	ImportChanged   = "changed"
	ImportUnchanged = "unchanged"
)

// Import makes checkpoints of documents and events of rollbacks. It touches neither the
// worktree nor the index, HEAD or the configuration. All sessions are checked before the
// first is written, so an error in a document leaves nothing behind. A failed write leaves
// the sessions before it imported. A dry run writes nothing.
func Import(ctx context.Context, s *checkpoint.Rules, sessions []ImportSession, dryRun bool) ([]Imported, error) {
	var imports []*importing
	out := []Imported{}
	for i := range sessions {
		im, err := newImport(ctx, s, &sessions[i], dryRun)
		if err != nil {
			return nil, err
		}
		if dryRun {
			out = append(out, im.told...)
			continue
		}
		imports = append(imports, im)
	}
	if len(imports) == 0 {
		return out, nil
	}
	// Many objects are written at once, so they go into packs and not into loose files.
	err := s.Repo.Objects.InPacks(ctx, func() error {
		for _, im := range imports {
			if _, err := checkpoint.Transact(ctx, s.Store, im.session, im.build); err != nil {
				return err
			}
			out = append(out, im.told...)
		}
		return nil
	})
	return out, err
}

// importing is the import of one session.
type importing struct {
	s       *store.Store
	in      *ImportSession
	session name.Session
	def     *workflow.Definition
	digests []string // digest of each document, by step
	limit   int64    // checkpoint.maxRecordSize in bytes
	dryRun  bool

	// What the last build made. It depends on the journal, so build begins again if another writer
	// changed the journal in the meantime.
	importMap *importMap
	told      []Imported
	change    store.Change
	beside    map[string]name.OID // the blobs of in.Beside by name, which all documents share; nil: not written yet
	drawn     map[name.ID]bool    // the ids that this import has used
	newest    time.Time           // of the documents that were added
}

// newImport validates a session, so that errors show before anything is written. In a dry run it
// finds out what an import would do as well.
func newImport(ctx context.Context, s *checkpoint.Rules, in *ImportSession, dryRun bool) (*importing, error) {
	im := &importing{s: s.Store, in: in, digests: make([]string, len(in.Steps)), dryRun: dryRun}
	var err error
	if im.session, err = name.ParseSession(in.Session); err != nil {
		return nil, &checkpoint.Error{Kind: checkpoint.KindInvalid, Err: err}
	}
	if im.limit, err = s.Settings.Size("checkpoint.maxRecordSize", checkpoint.DefaultMaxRecordSize); err != nil {
		return nil, err
	}
	v := store.View{}
	switch v.State, err = s.Store.State(ctx, im.session); {
	case errors.Is(err, store.ErrNoSession):
		v.State = nil
		// git may keep refs in a case-insensitive file system, so names that differ in case
		// only clash.
		if err := s.Store.CheckTwin(ctx, im.session); err != nil {
			return nil, &checkpoint.Error{Kind: checkpoint.KindInvalid, Err: err}
		}
	case err != nil:
		return nil, err
	case v.State.ReadOnly != "":
		return nil, store.ReadOnly(im.session, v.State)
	}
	// A session that exists keeps its workflow. The layout's workflow is used for a new one only.
	workflow := in.Format
	if v.State != nil && v.State.Workflow != "" {
		workflow = v.State.Workflow
	}
	if im.def, err = s.Definition(workflow); err != nil {
		return nil, err
	}
	for i, step := range in.Steps {
		if step.Document == nil {
			continue
		}
		if im.digests[i], err = DocumentDigest(step.Document.JSON); err != nil {
			return nil, &checkpoint.Error{Kind: checkpoint.KindInvalid, Message: step.Document.Path, Err: err}
		}
	}
	if dryRun {
		_, err = im.build(ctx, v)
	}
	return im, err
}

// ParseDocument parses a JSON document with the same strict rules as a state.
func ParseDocument(text []byte) (json.RawMessage, error) {
	const maxDocumentDepth = 95 // less than the depth that a record may have, because the record wraps the document
	return record.ParseJSON(text, record.Limits{Depth: maxDocumentDepth})
}

// DocumentDigest returns a checksum of a JSON document that does not depend on its
// formatting or the order of members. It is how a repeated import recognises a document.
func DocumentDigest(document json.RawMessage) (string, error) {
	wrapped := append(append([]byte(`{"document":`), document...), '}')
	digest, err := record.Checksum(wrapped)
	if err != nil {
		return "", fmt.Errorf("digest document: %w", err)
	}
	return digest, nil
}
