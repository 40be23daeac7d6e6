package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

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

	record     name.OID // its record commit; empty when there is an error
	tree, blob name.OID // of the record commit, and of the record in it
	remembered string   // in their place: the objects of a glance
}

// Summaries lists the checkpoints of a session in the order of their ids. A damaged
// one has its error and stops no other.
func (s *Store) Summaries(ctx context.Context, session name.Session) ([]Summary, error) {
	refs, err := s.Repo.Refs(ctx, name.CheckpointRoot+string(session)+"/")
	if err != nil {
		return nil, err
	}
	var out []Summary
	for _, r := range s.Held(ctx, refs) {
		if sum, ok := begin(r); ok {
			out = append(out, sum)
		}
	}
	all := make([]*Summary, len(out))
	for i := range out {
		all[i] = &out[i]
	}
	return out, s.readSummaries(ctx, all)
}

// readWhole is how many checkpoints, the last ones, are looked at whole whenever they are
// listed. Of older ones it is remembered what they say, and asked whether they are there.
const readWhole = 1000

// Listed gives what a list shows of checkpoints of a session, whose ids come in the order
// of the journal: of those that have a ref what their commits say, and in their Err what is
// wrong with these or their records. It is no proof: a record is compared with its id, its
// checksum and its commit's message.
func (s *Store) Listed(ctx context.Context, session name.Session, ids []name.ID) (map[name.ID]*Summary, error) {
	refs, err := s.Repo.Refs(ctx, name.CheckpointRoot+string(session)+"/")
	if err != nil {
		return nil, err
	}
	room := make([]Summary, len(ids)) // together, because there may be many
	byID := make(map[name.ID]*Summary, len(ids))
	for i, id := range ids {
		byID[id] = &room[i]
	}
	for _, r := range s.Held(ctx, refs) {
		if sum, ok := begin(r); ok && byID[sum.ID] != nil {
			*byID[sum.ID] = sum
		}
	}
	all := make([]*Summary, 0, len(ids))
	for i, id := range ids {
		if room[i].Commit == "" {
			delete(byID, id)
		} else {
			all = append(all, &room[i])
		}
	}
	old := all[:max(0, len(all)-s.whole)]
	if err := s.lookAtOld(ctx, session, old); err != nil {
		return nil, err
	}
	recent := all[len(old):]
	if err := s.readSummaries(ctx, recent); err != nil {
		return nil, err
	}
	return byID, s.checkRecords(ctx, recent, readRecords)
}

// lookAtOld takes what is remembered of checkpoints whose objects are there, and reads the
// others.
func (s *Store) lookAtOld(ctx context.Context, session name.Session, all []*Summary) error {
	if len(all) == 0 {
		return nil
	}
	known := s.glances(session)
	read := make([]bool, len(all))
	err := s.Repo.Apart(len(all), func(b *git.Batch, from, to int) error {
		objects := make([]string, to-from)
		var raw [32]byte
		for i, sum := range all[from:to] {
			if n, err := hex.Decode(raw[:], []byte(sum.Commit)); err == nil {
				objects[i] = known.of[string(raw[:n])].objects
			}
		}
		for i, there := range b.Present(objects) {
			if read[from+i] = !there; there {
				n, _ := hex.Decode(raw[:], []byte(all[from+i].Commit)) //nolint:errcheck // it was decoded above
				all[from+i].fill(known.of[string(raw[:n])])
			}
		}
		return ctx.Err()
	})
	var fresh []*Summary
	for i, sum := range all {
		if read[i] {
			fresh = append(fresh, sum)
		}
	}
	if err == nil {
		err = s.readSummaries(ctx, fresh)
	}
	if err == nil {
		err = s.checkRecords(ctx, fresh, askRecords)
	}
	if err != nil {
		return err
	}
	for _, sum := range fresh {
		if sum.Err == nil {
			known.remember(sum)
		}
	}
	known.save(s.Repo.Format, len(all))
	return nil
}

// maxCommit is the largest commit or tree of a checkpoint that is read.
const maxCommit = 64 << 20

func (s *Store) readSummaries(ctx context.Context, all []*Summary) error {
	return s.Repo.Apart(len(all), func(b *git.Batch, from, to int) error { return readSummaries(ctx, b, all[from:to]) })
}

func readSummaries(ctx context.Context, b *git.Batch, all []*Summary) error {
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

// checkRecords finds the records of checkpoints, looks at them in one of two ways, and puts
// what is wrong into their Err.
func (s *Store) checkRecords(ctx context.Context, all []*Summary, look func(context.Context, *git.Batch, []*Summary) error) error {
	var sound []*Summary
	for _, sum := range all {
		if sum.Err == nil && sum.record == "" {
			sum.blame(errors.New("its commit has no parent that could hold it"))
		} else if sum.Err == nil {
			sound = append(sound, sum)
		}
	}
	return s.Repo.Apart(len(sound), func(b *git.Batch, from, to int) error {
		some, err := s.findRecords(ctx, b, sound[from:to])
		if err == nil {
			err = look(ctx, b, some)
		}
		return err
	})
}

// askRecords asks whether records are there.
func askRecords(ctx context.Context, b *git.Batch, all []*Summary) error {
	oids := make([]name.OID, len(all))
	for i, sum := range all {
		oids[i] = sum.blob
	}
	missing, err := b.Missing(ctx, oids)
	for _, sum := range all {
		if missing[sum.blob] {
			sum.blame(fmt.Errorf("object %q: %w", sum.blob, git.ErrMissing))
		}
	}
	return err
}

// readRecords reads them.
func readRecords(ctx context.Context, b *git.Batch, all []*Summary) error {
	return eachRecord(ctx, b, all, func(int, []byte) error { return nil })
}

// EachRecord gives the records, as they are stored, of checkpoints that Listed found whole. It
// calls back from several goroutines at once, in no order, and passes over a record that
// is damaged.
func (s *Store) EachRecord(ctx context.Context, all []*Summary, each func(i int, raw []byte) error) error {
	return s.Repo.Apart(len(all), func(b *git.Batch, from, to int) error {
		return eachRecord(ctx, b, all[from:to], func(i int, raw []byte) error { return each(from+i, raw) })
	})
}

func eachRecord(ctx context.Context, b *git.Batch, all []*Summary, each func(int, []byte) error) error {
	oids := make([]string, len(all))
	for i, sum := range all {
		if oids[i] = string(sum.blob); sum.remembered != "" {
			oids[i] = hex.EncodeToString([]byte(sum.remembered[3*len(sum.remembered)/4:]))
		}
	}
	return b.Prove(ctx, oids, record.MaxSize, func(i int, o git.Object, err error) error {
		if err == nil {
			err = all[i].agrees(o.Data)
		}
		if err != nil {
			all[i].blame(err)
			return nil //nolint:nilerr // one damaged record stops no other
		}
		return each(i, o.Data)
	})
}

// findRecords finds the blobs of records through commits and trees. Those where it finds
// none are blamed and left out.
func (s *Store) findRecords(ctx context.Context, b *git.Batch, all []*Summary) ([]*Summary, error) {
	commit := func(sum *Summary) name.OID { return sum.record }
	all, err := follow(ctx, b, all, commit, func(sum *Summary, o git.Object) error {
		c, err := commitOf(o, nil)
		sum.tree = c.Tree
		return err
	})
	if err != nil {
		return nil, err
	}
	return follow(ctx, b, all, func(sum *Summary) name.OID { return sum.tree }, func(sum *Summary, o git.Object) error {
		if o.Type != "tree" {
			return fmt.Errorf("it is a %s", o.Type)
		}
		entries, err := git.ParseTree(o.Data, s.Repo.HashLen())
		for _, e := range entries {
			if e.Name == recordPath && e.Mode == git.ModeFile {
				sum.blob = e.OID
				return err
			}
		}
		return errors.Join(err, errors.New("it holds no "+recordPath))
	})
}

// follow reads an object of each, and gives those that lead on; the others are blamed.
func follow(ctx context.Context, b *git.Batch, all []*Summary, object func(*Summary) name.OID, take func(*Summary, git.Object) error) ([]*Summary, error) {
	oids := make([]string, len(all))
	for i, sum := range all {
		oids[i] = string(object(sum))
	}
	err := b.Prove(ctx, oids, maxCommit, func(i int, o git.Object, err error) error {
		if err == nil {
			err = take(all[i], o)
		}
		all[i].blame(err)
		return nil
	})
	return slices.DeleteFunc(slices.Clone(all), func(sum *Summary) bool { return sum.Err != nil }), err
}

func (s *Summary) agrees(raw []byte) error {
	r, changed, err := record.ParseSealed(raw, record.Limits{})
	switch {
	case err != nil:
		return err
	case r.ID != s.ID:
		return fmt.Errorf("it is that of %s", r.ID)
	case r.Checksum != s.Checksum:
		return errors.New("it is not the one that its commit names")
	}
	return changed
}

func (s *Summary) blame(err error) {
	if err != nil {
		s.Err = &DamagedError{What: "record", OID: s.record, Err: err}
	}
}
