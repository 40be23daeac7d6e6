package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/store"
	"git-checkpoint/internal/workflow"
)

// What another system keeps in files comes in as the values of this file: whoever
// reads its layout fills them, and the domain makes checkpoints and events of them.

// ImportRequest is what was read of one layout.
type ImportRequest struct {
	Format   string // what the layout is called
	Sessions []ImportSession
	DryRun   bool
}

// ImportSession is one session of another system.
type ImportSession struct {
	Session   string
	Workflow  string
	Topic     string
	Branch    string // short name; recorded where it exists here
	Status    string // what the session was closed with; empty: it is open
	CreatedAt time.Time
	Steps     []ImportStep // in the order of the journal
	Current   string       // key of the document that is current; empty: the last one
	Beside    []ImportFile // what stands beside the documents, kept as it was

	// Known are the documents, by key, that checkpoints which were made here would be
	// written as.
	Known map[string]KnownDocument
}

// KnownDocument is a checkpoint as a document.
type KnownDocument struct {
	ID     name.ID
	Digest string
}

// ImportStep is a document or a rollback.
type ImportStep struct {
	Document *ImportDocument
	Rollback *ImportRollback
}

// ImportDocument is one checkpoint of another system.
type ImportDocument struct {
	Key string // what its own system calls it within the session
	// OwnID is the id that stands in the document; empty: none.
	OwnID string
	Path  string // where it stands in the layout
	JSON  json.RawMessage
	// Digest is DocumentDigest of JSON, where the reader has it already.
	Digest string
	Kept   []ImportFile // the document as it was, and what else told of it

	At        time.Time
	Step      *int
	StepName  string
	Iteration string
	Label     string // empty: made of the place
	Hangs     bool   // it is no milestone, whatever the workflow says
	Trigger   string // empty: as the document says, else phase_transition
	Status    string // empty: as the document says
	Message   string
	Outputs   []ImportFile // by name
	Commit    string       // that the document names, maybe abbreviated
	Branch    string

	Created, Modified, Deleted []string // files, as the document lists them
}

// ImportFile is a file by a name without a slash.
type ImportFile struct {
	Name    string
	Content []byte
}

// ImportRollback is one entry of another system's rollback history. From and To are
// keys.
type ImportRollback struct {
	From, To string
	At       time.Time
	Reason   string
}

// Imported is what an import did, or would do, with one document.
type Imported struct {
	Session name.Session    `json:"session"`
	Key     string          `json:"key"`
	Path    string          `json:"path"`
	Action  string          `json:"action"` // added, changed, unchanged
	ID      name.ID         `json:"id"`     // empty in a dry run
	Label   string          `json:"label"`
	Step    int             `json:"step"`
	At      checkpoint.Time `json:"created_at"`
	Commit  name.OID        `json:"commit"` // the commit that it is linked with; empty: none
}

// The actions.
const (
	ImportAdded     = "added"
	ImportChanged   = "changed"
	ImportUnchanged = "unchanged"
)

// Import makes checkpoints of documents and events of what happened to them. It
// touches neither worktree, index, HEAD nor configuration. Nothing is written before
// every session was looked at.
func Import(ctx context.Context, s *checkpoint.Service, requests []ImportRequest) ([]Imported, error) {
	var imports []*importing
	out := []Imported{}
	for _, req := range requests {
		links, err := findLinks(ctx, s, req.Sessions)
		if err != nil {
			return nil, err
		}
		for i := range req.Sessions {
			im, err := newImport(ctx, s, req.Format, &req.Sessions[i], links)
			if err != nil {
				return nil, err
			}
			if req.DryRun {
				out = append(out, im.told...)
				continue
			}
			imports = append(imports, im)
		}
	}
	if len(imports) == 0 {
		return out, nil
	}
	err := s.Repo.InPacks(ctx, func() error {
		for _, im := range imports {
			res, err := s.Store.Transact(ctx, im.session, im.build)
			if err != nil {
				return checkpoint.Classify(err)
			}
			for _, w := range res.Warnings {
				s.Warn(w)
			}
			out = append(out, im.told...)
		}
		return nil
	})
	return out, checkpoint.Classify(err)
}

// importing is the import of one session. What is worked out on a journal is worked
// out anew when another writer was faster.
type importing struct {
	s       *checkpoint.Service
	format  string
	in      *ImportSession
	session name.Session
	def     *workflow.Definition
	links   links
	digests []string // by step
	limit   int64

	ledger *ledger
	told   []Imported
	ready  []planned // for a session that does not exist yet; nil: to be worked out
}

// newImport checks a session and works it out once, so that what cannot be done is
// known before anything is written.
func newImport(ctx context.Context, s *checkpoint.Service, format string, in *ImportSession, l links) (*importing, error) {
	im := &importing{s: s, format: format, in: in, links: l, digests: make([]string, len(in.Steps))}
	var err error
	if im.session, err = name.ParseSession(in.Session); err != nil {
		return nil, &checkpoint.Error{Kind: checkpoint.KindInvalid, Err: err}
	}
	if im.limit, err = s.Settings.Size("checkpoint.maxRecordSize", checkpoint.DefaultMaxRecordSize); err != nil {
		return nil, err
	}
	v := store.View{Session: im.session}
	switch v.State, err = s.Store.State(ctx, im.session); {
	case errors.Is(err, store.ErrNoSession):
		v.State = nil
		if err := s.Store.CheckTwin(ctx, im.session); err != nil {
			return nil, &checkpoint.Error{Kind: checkpoint.KindInvalid, Err: err}
		}
	case err != nil:
		return nil, checkpoint.Classify(err)
	case v.State.ReadOnly != "":
		return nil, checkpoint.Classify(&store.ReadOnlyError{Session: im.session, Reason: v.State.ReadOnly})
	}
	workflow := in.Workflow
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
		if im.digests[i] = step.Document.Digest; im.digests[i] != "" {
			continue
		}
		if im.digests[i], err = DocumentDigest(step.Document.JSON); err != nil {
			return nil, &checkpoint.Error{Kind: checkpoint.KindInvalid, Message: step.Document.Path, Err: err}
		}
	}
	if planned := im.plan(v); v.State == nil {
		im.ready = planned
	}
	return im, nil
}

// DocumentDigest tells documents apart by what they say, not by how it is spelled.
func DocumentDigest(document json.RawMessage) (string, error) {
	wrapped := append(append([]byte(`{"document":`), document...), '}')
	digest, err := record.Checksum(wrapped)
	if err != nil {
		return "", fmt.Errorf("digest document: %w", err)
	}
	return digest, nil
}
