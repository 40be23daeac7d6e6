package store

import (
	"context"
	"errors"
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

	record name.OID // its record commit; empty when there is an error
}

// Summaries lists the checkpoints of a session in the order of their ids: all of them, or
// those that are asked for. A damaged one has its error and stops no other.
func (s *Store) Summaries(ctx context.Context, session name.Session, only ...name.ID) ([]Summary, error) {
	refs, err := s.Repo.Refs(ctx, name.CheckpointRoot+string(session)+"/")
	if err != nil {
		return nil, err
	}
	wanted := make(map[name.ID]bool, len(only))
	for _, id := range only {
		wanted[id] = true
	}
	out := make([]Summary, 0, max(len(only), 16))
	for _, r := range s.Held(ctx, refs) {
		if sum, ok := begin(r); ok && (len(only) == 0 || wanted[sum.ID]) {
			out = append(out, sum)
		}
	}
	err = s.Repo.Apart(len(out), func(b *git.Batch, from, to int) error { return readSummaries(ctx, b, out[from:to]) })
	return out, err
}

// maxCommit is the largest commit or tree of a checkpoint that is read.
const maxCommit = 64 << 20

func readSummaries(ctx context.Context, b *git.Batch, all []Summary) error {
	oids := make([]string, len(all))
	for i := range all {
		oids[i] = string(all[i].Commit)
	}
	return b.Prove(ctx, oids, maxCommit, func(i int, o git.Object, err error) error {
		c, err := commitOf(o, err)
		if err != nil {
			all[i].Err = &DamagedError{What: "checkpoint commit", OID: all[i].Commit, Err: err}
			return nil //nolint:nilerr // one damaged checkpoint stops no other
		}
		if n := len(c.Parents); n > 0 {
			all[i].record = c.Parents[n-1]
		}
		all[i].read(c.Message)
		return nil
	})
}

func commitOf(o git.Object, err error) (git.Commit, error) {
	if err == nil && o.Type != "commit" {
		err = fmt.Errorf("it is a %s", o.Type)
	}
	if err != nil {
		return git.Commit{}, err
	}
	return git.ParseCommit(o.OID, o.Data)
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
	whole := max(0, len(sound)-readWhole)
	return s.Repo.Apart(len(sound), func(b *git.Batch, from, to int) error {
		some, blobs, err := s.recordBlobs(ctx, b, sound[from:to])
		if err != nil {
			return err
		}
		if to <= whole {
			return askRecords(ctx, b, some, blobs)
		}
		return readRecords(ctx, b, some, blobs)
	})
}

// askRecords asks whether records are there.
func askRecords(ctx context.Context, b *git.Batch, all []*Summary, blobs []string) error {
	oids := make([]name.OID, len(blobs))
	for i, oid := range blobs {
		oids[i] = name.OID(oid)
	}
	missing, err := b.Missing(ctx, oids)
	for i, sum := range all {
		if missing[oids[i]] {
			sum.blame(fmt.Errorf("object %q: %w", oids[i], git.ErrMissing))
		}
	}
	return err
}

func readRecords(ctx context.Context, b *git.Batch, all []*Summary, blobs []string) error {
	return b.Prove(ctx, blobs, record.MaxSize, func(i int, o git.Object, err error) error {
		if err == nil {
			err = all[i].agrees(o.Data)
		}
		all[i].blame(err)
		return nil
	})
}

// recordBlobs finds the blobs of records through commits and trees. Those where it finds
// none are blamed and left out.
func (s *Store) recordBlobs(ctx context.Context, b *git.Batch, all []*Summary) (left []*Summary, blobs []string, err error) {
	for _, sum := range all {
		blobs = append(blobs, string(sum.record))
	}
	trees, err := follow(ctx, b, all, blobs, func(o git.Object, err error) (name.OID, error) {
		c, err := commitOf(o, err)
		return c.Tree, err
	})
	if err != nil {
		return nil, nil, err
	}
	all, blobs = remaining(all, trees)
	found, err := follow(ctx, b, all, blobs, func(o git.Object, err error) (name.OID, error) {
		if err == nil && o.Type != "tree" {
			err = fmt.Errorf("it is a %s", o.Type)
		}
		if err != nil {
			return "", err
		}
		entries, err := git.ParseTree(o.Data, s.Repo.HashLen())
		for _, e := range entries {
			if e.Name == recordPath && e.Mode == git.ModeFile {
				return e.OID, err
			}
		}
		return "", errors.Join(err, errors.New("it holds no "+recordPath))
	})
	left, blobs = remaining(all, found)
	return left, blobs, err
}

// follow reads an object of each and gives what it leads to, "" where that is blamed.
func follow(ctx context.Context, b *git.Batch, all []*Summary, oids []string, to func(git.Object, error) (name.OID, error)) ([]name.OID, error) {
	found := make([]name.OID, len(oids))
	err := b.Prove(ctx, oids, maxCommit, func(i int, o git.Object, err error) error {
		oid, err := to(o, err)
		if err != nil {
			all[i].blame(err)
			return nil //nolint:nilerr // one damaged checkpoint stops no other
		}
		found[i] = oid
		return nil
	})
	return found, err
}

// remaining are those that lead on, and where to.
func remaining(all []*Summary, found []name.OID) (left []*Summary, oids []string) {
	for i, oid := range found {
		if oid != "" {
			left, oids = append(left, all[i]), append(oids, string(oid))
		}
	}
	return left, oids
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
