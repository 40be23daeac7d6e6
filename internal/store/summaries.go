package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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

	record name.OID // its record commit; empty when there is an error
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
	out, err := s.archived(ctx, refs)
	if err != nil {
		return nil, err
	}
	single := len(out) == 0
	out = slices.Grow(out, len(refs))
	for _, r := range refs {
		sum, ok := begin(r)
		if !ok {
			continue
		}
		if r.Type != "commit" {
			sum.Err = &DamagedError{What: "checkpoint commit", OID: r.OID, Err: fmt.Errorf("it is a %s", r.Type)}
		} else {
			sum.record = r.Parent
			sum.read(r.Contents)
		}
		out = append(out, sum)
	}
	if single {
		return out, nil
	}
	slices.SortFunc(out, func(a, b Summary) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out, nil
}

// summariesOneByOne is for when one object that git cannot read ended the listing.
func (s *Store) summariesOneByOne(ctx context.Context, prefix string) ([]Summary, error) {
	refs, err := s.Repo.Refs(ctx, prefix)
	if err != nil {
		return nil, err
	}
	return s.readOneByOne(ctx, s.Held(ctx, refs))
}

// archived reads those checkpoints that only an archive holds.
func (s *Store) archived(ctx context.Context, refs []git.RefValue) ([]Summary, error) {
	own := make(map[name.Ref]bool, len(refs))
	for _, r := range refs {
		own[r.Ref] = true
	}
	held := s.Held(ctx, refs)
	if len(held) == len(refs) {
		return nil, nil
	}
	return s.readOneByOne(ctx, slices.DeleteFunc(held, func(r git.RefValue) bool { return own[r.Ref] }))
}

func (s *Store) readOneByOne(ctx context.Context, refs []git.RefValue) ([]Summary, error) {
	var out []Summary
	var specs []string
	for _, r := range refs {
		if sum, ok := begin(r); ok {
			out, specs = append(out, sum), append(specs, string(r.OID))
		}
	}
	err := s.Repo.Batch().Objects(ctx, specs, func(i int, o git.Object, err error) error {
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
		if n := len(c.Parents); n > 0 {
			out[i].record = c.Parents[n-1]
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

// readWhole is how many records are read to see whether they can be; of further ones
// it is asked whether they are there.
const readWhole = 1000

// readSlowly is how many are read step by step, for which git is not needed where the
// objects are loose; of more git finds the record faster.
const readSlowly = 64

// CheckRecords looks at the records of checkpoints, the last ones whole, and puts what
// is wrong into their Err. It is no proof: it compares a record with its id, its checksum
// and its commit's message.
func (s *Store) CheckRecords(ctx context.Context, all []*Summary) error {
	var sound []*Summary
	for _, sum := range all {
		if sum.Err == nil && sum.record == "" {
			sum.blame(errors.New("its commit has no parent that could hold it"))
		} else if sum.Err == nil {
			sound = append(sound, sum)
		}
	}
	cut := max(0, len(sound)-readWhole)
	err := s.Repo.Batch().Info(ctx, recordSpecs(sound[:cut]), func(i int, o git.Object, err error) error {
		if err == nil && o.Type != "blob" {
			err = fmt.Errorf("it is a %s", o.Type)
		}
		sound[i].blame(err)
		return nil
	})
	if err != nil {
		return err
	}
	sound = sound[cut:]
	specs := recordSpecs(sound)
	if len(sound) <= readSlowly {
		if sound, specs, err = s.recordBlobs(ctx, sound); err != nil {
			return err
		}
	}
	return s.Repo.Batch().Objects(ctx, specs, func(i int, o git.Object, err error) error {
		if err == nil && git.HashObject(s.Repo.Format, o.Type, o.Data) != o.OID {
			err = git.ErrGarbled
		}
		if err == nil {
			err = sound[i].agrees(o.Data)
		}
		sound[i].blame(err)
		return nil
	})
}

func recordSpecs(all []*Summary) []string {
	specs := make([]string, len(all))
	for i, sum := range all {
		specs[i] = string(sum.record) + ":" + recordPath
	}
	return specs
}

// recordBlobs finds the blobs of records through commits and trees. Those where it finds
// none are blamed and left out.
func (s *Store) recordBlobs(ctx context.Context, all []*Summary) (left []*Summary, blobs []string, err error) {
	next := func(typ string, specs []string, from func(git.Object) (name.OID, error)) error {
		var some []*Summary
		var found []string
		err := s.Repo.Batch().Objects(ctx, specs, func(i int, o git.Object, err error) error {
			if err == nil && o.Type != typ {
				err = fmt.Errorf("it is a %s", o.Type)
			}
			var oid name.OID
			if err == nil {
				oid, err = from(o)
			}
			if err != nil {
				all[i].blame(err)
				return nil //nolint:nilerr // one damaged checkpoint stops no other
			}
			some, found = append(some, all[i]), append(found, string(oid))
			return nil
		})
		all, blobs = some, found
		return err
	}
	for _, sum := range all {
		blobs = append(blobs, string(sum.record))
	}
	err = next("commit", blobs, func(o git.Object) (name.OID, error) {
		c, err := git.ParseCommit(o.OID, o.Data)
		return c.Tree, err
	})
	if err != nil {
		return nil, nil, err
	}
	err = next("tree", blobs, func(o git.Object) (name.OID, error) {
		entries, err := git.ParseTree(o.Data, s.Repo.HashLen())
		for _, e := range entries {
			if e.Name == recordPath && e.Mode == git.ModeFile {
				return e.OID, err
			}
		}
		return "", errors.Join(err, errors.New("it holds no "+recordPath))
	})
	return all, blobs, err
}

func (s *Summary) agrees(raw []byte) error {
	r, err := record.Parse(raw, record.Limits{})
	switch {
	case err != nil:
		return err
	case r.ID != s.ID:
		return fmt.Errorf("it is that of %s", r.ID)
	case r.Checksum != s.Checksum:
		return errors.New("it is not the one that its commit names")
	}
	return record.Verify(r, raw)
}

func (s *Summary) blame(err error) {
	if err != nil {
		s.Err = &DamagedError{What: "record", OID: s.record, Err: err}
	}
}
