package store

import (
	"context"
	"fmt"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

// Summary is a checkpoint as its ref and the message of its commit tell. Where Err
// is set only what the ref says is there.
type Summary struct {
	record.Summary
	Ref    name.Ref
	Commit name.OID
	Err    error
}

// Summaries lists the checkpoints of a session in the order of their ids. A damaged
// one has its error and stops no other.
func (s *Store) Summaries(ctx context.Context, session name.Session) ([]Summary, error) {
	prefix := name.CheckpointRoot + string(session) + "/"
	refs, err := s.Repo.RefsWithContents(ctx, prefix)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return s.summariesOneByOne(ctx, prefix)
	}
	out := make([]Summary, 0, len(refs))
	for _, r := range refs {
		sum, ok := begin(r)
		if !ok {
			continue
		}
		if r.Type != "commit" {
			sum.Err = &DamagedError{What: "checkpoint commit", OID: r.OID, Err: fmt.Errorf("it is a %s", r.Type)}
		} else {
			sum.read(r.Contents)
		}
		out = append(out, sum)
	}
	return out, nil
}

// summariesOneByOne is for when one object that git cannot read ended the listing.
func (s *Store) summariesOneByOne(ctx context.Context, prefix string) ([]Summary, error) {
	refs, err := s.Repo.Refs(ctx, prefix)
	if err != nil {
		return nil, err
	}
	var out []Summary
	var specs []string
	for _, r := range refs {
		if sum, ok := begin(r); ok {
			out, specs = append(out, sum), append(specs, string(r.OID))
		}
	}
	err = s.Repo.Batch().Objects(ctx, specs, func(i int, o git.Object, err error) error {
		if err == nil && o.Type != "commit" {
			err = fmt.Errorf("it is a %s", o.Type)
		}
		var c git.Commit
		if err == nil {
			c, err = git.ParseCommit(o.OID, o.Data)
		}
		if err != nil {
			out[i].Err = &DamagedError{What: "checkpoint commit", OID: out[i].Commit, Err: err}
			return nil //nolint:nilerr // one damaged checkpoint stops no other
		}
		out[i].read(c.Message)
		return nil
	})
	return out, err
}

// begin is what the ref alone says; ok is false for a ref that is no checkpoint's.
func begin(r git.RefValue) (Summary, bool) {
	session, leaf, ok := name.SplitCheckpointRef(r.Ref)
	id, err := name.ParseID(leaf)
	return Summary{Summary: record.Summary{ID: id, Session: session}, Ref: r.Ref, Commit: r.OID}, ok && err == nil
}

// read takes the rest from the commit's message, which must be about this ref.
func (s *Summary) read(message string) {
	told, err := record.ParseMessage(message)
	if err == nil && (told.ID != s.ID || told.Session != s.Session) {
		err = fmt.Errorf("it is checkpoint %s of session %q", told.ID, told.Session)
	}
	if err != nil {
		s.Err = &DamagedError{What: "checkpoint commit", OID: s.Commit, Err: err}
		return
	}
	s.Summary = told
}
