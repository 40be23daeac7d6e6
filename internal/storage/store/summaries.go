package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// Summary is a checkpoint as its ref and the message of its commit describe it. If Err is set, only
// ID, Session and Commit are reliable.
type Summary struct {
	record.Summary
	Commit name.OID
	Err    error

	Skipped []record.Skipped // of the record, if that was read
	Agent   record.Agent     // likewise; the zero value: no agent made it

	record     name.OID // the record commit M; empty if the commit could not be read
	tree, blob name.OID // M's tree, and the record in it
	remembered string   // instead of the three above: cachedSummary.objects
}

// records reads the records of checkpoints, one by one and as lists.
type records struct {
	*contents
	refs  *inventory
	local *localFiles
	whole int // how many of the newest checkpoints Listed reads completely each time

	mu    sync.Mutex
	large []Stored // the two large records that were read last: one command asks for them several times
}

// readWhole is how many checkpoints, the newest ones, Listed reads completely. For older ones it
// uses the cached summaries and checks only that the objects exist.
const readWhole = 1000

// Listed returns what a list shows of the given checkpoints, without those that are not in this
// repository. ids must be in the order of the journal. If the commit or the record of a checkpoint
// is damaged, its Err says so: each record is compared with its id, its checksum and the commit's
// message. That is a check for damage, and no proof of authenticity.
func (s *records) Listed(ctx context.Context, session name.Session, ids []name.ID) (map[name.ID]*Summary, error) {
	refs, err := s.refsOf(ctx, session, ids)
	if err != nil {
		return nil, err
	}
	// Start with an empty Summary for each id and fill in those that have a ref or are archived.
	room := make([]Summary, len(ids)) // one allocation, because there may be many
	byID := make(map[name.ID]*Summary, len(ids))
	for i, id := range ids {
		byID[id] = &room[i]
	}
	for _, r := range s.refs.Held(ctx, refs) {
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
	// The list is in the order of the journal, so the old ones are at the beginning.
	old := all[:max(0, len(all)-s.whole)]
	if err := s.lookAtOld(ctx, session, old); err != nil {
		return nil, err
	}
	recent := all[len(old):]
	if err := s.readSummaries(ctx, recent); err != nil {
		return nil, err
	}
	return byID, s.checkRecords(ctx, recent, s.readRecords)
}

// fewRefs is how many refs are looked up one by one, which costs 25 microseconds each. Listing all
// refs of a session costs a microsecond for each.
const fewRefs = 100

// refsOf returns the refs of the given checkpoints and the session's archive, and maybe others.
func (s *records) refsOf(ctx context.Context, session name.Session, ids []name.ID) ([]git.RefValue, error) {
	if len(ids) > fewRefs {
		return s.repo.Refs.List(ctx, name.CheckpointRoot+string(session)+"/")
	}
	wanted := []name.Ref{name.ArchiveRef(session)}
	wanted = append(wanted, gather.List(ids, func(id name.ID) name.Ref { return name.CheckpointRef(session, id) })...)
	found, err := s.repo.Refs.ResolveAll(ctx, wanted...)
	refs := make([]git.RefValue, 0, len(found))
	for ref, oid := range found {
		refs = append(refs, git.RefValue{Ref: ref, OID: oid})
	}
	return refs, err
}

// lookAtOld fills in old checkpoints from the cached summaries if their objects exist. It reads the others
// and adds them to the cached summaries.
func (s *records) lookAtOld(ctx context.Context, session name.Session, all []*Summary) error {
	if len(all) == 0 {
		return nil
	}
	known := s.readSummaryCache(session)
	read := make([]bool, len(all))
	err := s.repo.Objects.ParallelChunks(len(all), func(b *git.Batch, from, to int) error {
		objects := make([]string, to-from)
		for i, sum := range all[from:to] {
			objects[i] = known.of[sum.Commit].objects // of an unknown one none, for which Present is false
		}
		for i, there := range b.Present(objects) {
			if read[from+i] = !there; there {
				all[from+i].fill(known.of[all[from+i].Commit])
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
	known.save(s.repo.Format, len(all))
	return nil
}

// maxCommit is the size in bytes of the largest commit or tree of a checkpoint that is read.
const maxCommit = 64 << 20

// readSummaries reads the commits of checkpoints, with several readers at once.
func (s *records) readSummaries(ctx context.Context, all []*Summary) error {
	return s.repo.Objects.ParallelChunks(len(all), func(b *git.Batch, from, to int) error { return readSummaries(ctx, b, all[from:to]) })
}

// readSummaries is the part of one reader.
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

// commitOf decodes a commit from an object that was read.
func commitOf(o git.Object, err error) (git.Commit, error) {
	if err == nil && o.Type != "commit" {
		err = fmt.Errorf("it is a %s", o.Type)
	}
	if err != nil {
		return git.Commit{}, err
	}
	return git.ParseCommit(o.OID, o.Data)
}

// begin returns what the ref alone says. ok is false if it is not the ref of a checkpoint.
func begin(r git.RefValue) (Summary, bool) {
	session, leaf, ok := name.SplitCheckpointRef(r.Ref)
	id, err := name.ParseID(leaf)
	return Summary{Summary: record.Summary{ID: id, Session: session}, Commit: r.OID}, ok && err == nil
}

// read fills in what the commit's message says. It must describe the checkpoint that the ref names.
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

// checkRecords finds the records of checkpoints and checks them with look, which is askRecords or
// readRecords. What is wrong ends up in their Err.
func (s *records) checkRecords(ctx context.Context, all []*Summary, look func(context.Context, *git.Batch, []*Summary) error) error {
	var sound []*Summary
	for _, sum := range all {
		if sum.Err == nil && sum.record == "" {
			sum.blame(errors.New("its commit has no parent that could contain it"))
		} else if sum.Err == nil {
			sound = append(sound, sum)
		}
	}
	return s.repo.Objects.ParallelChunks(len(sound), func(b *git.Batch, from, to int) error {
		some, err := s.findRecords(ctx, b, sound[from:to])
		if err == nil {
			err = look(ctx, b, some)
		}
		return err
	})
}

// askRecords checks that the records exist.
func askRecords(ctx context.Context, b *git.Batch, all []*Summary) error {
	oids := gather.List(all, func(sum *Summary) name.OID { return sum.blob })
	missing, err := b.Missing(ctx, oids)
	for _, sum := range all {
		if missing[sum.blob] {
			sum.blame(fmt.Errorf("object %q: %w", sum.blob, git.ErrMissing))
		}
	}
	return err
}

// largeRecord is the size in bytes above which Listed does not read a record. A few of these, from a
// hostile clone, would make every list slow.
const largeRecord = 1 << 20

// readRecords reads the records and checks them. It only checks that large ones exist; what a list
// shows of them comes from their commits, and, if Record has read them before, from the cached summaries.
func (s *records) readRecords(ctx context.Context, b *git.Batch, all []*Summary) error {
	oids := gather.List(all, func(sum *Summary) string { return string(sum.blob) })
	large := make([]bool, len(all))
	err := b.Info(ctx, oids, func(i int, o git.Object, err error) error {
		large[i] = err == nil && o.Size > largeRecord
		return nil // eachRecord reports a missing one
	})
	var small []*Summary
	var known *summaryCache
	for i, sum := range all {
		if !large[i] {
			small = append(small, sum)
			continue
		}
		if known == nil {
			known = s.readSummaryCache(sum.Session)
		}
		sum.Skipped = known.of[sum.Commit].skipped()
	}
	if err != nil {
		return err
	}
	return eachRecord(ctx, b, small, func(int, []byte, *record.Record) error { return nil })
}

// cacheSummary remembers what a list shows of a checkpoint with a large record, which was read completely.
func (s *records) cacheSummary(ctx context.Context, commit, m, blob name.OID, r *record.Record) {
	c, err := s.repo.Commits.Read(ctx, string(commit))
	var of git.Commit
	if err == nil {
		of, err = s.repo.Commits.Read(ctx, string(m))
	}
	if err != nil {
		return // it is a cache
	}
	sum := Summary{Summary: record.Summary{ID: r.ID, Session: r.Session}, Commit: commit, record: m, tree: of.Tree, blob: blob, Skipped: r.Snapshot.Skipped}
	known := s.readSummaryCache(r.Session)
	_, has := known.of[commit]
	if sum.read(c.Message); sum.Err == nil && !has {
		known.remember(&sum)
		known.save(s.repo.Format, known.count)
	}
}

// EachRecord calls each with the stored records, as text and parsed, of checkpoints that Listed has
// returned without Err. It calls it from several goroutines at once, in no particular order. Damaged
// records are skipped, and get an Err.
func (s *records) EachRecord(ctx context.Context, all []*Summary, each func(i int, raw []byte, r *record.Record) error) error {
	return s.repo.Objects.ParallelChunks(len(all), func(b *git.Batch, from, to int) error {
		return eachRecord(ctx, b, all[from:to], func(i int, raw []byte, r *record.Record) error { return each(from+i, raw, r) })
	})
}

// eachRecord is the part of one reader of EachRecord.
func eachRecord(ctx context.Context, b *git.Batch, all []*Summary, each func(int, []byte, *record.Record) error) error {
	oids := make([]string, len(all))
	for i, sum := range all {
		// For a checkpoint from the cached summaries, the record's id is the last of the four.
		if oids[i] = string(sum.blob); sum.remembered != "" {
			oids[i] = hex.EncodeToString([]byte(sum.remembered[3*len(sum.remembered)/4:]))
		}
	}
	return b.Prove(ctx, oids, record.MaxSize, func(i int, o git.Object, err error) error {
		var r *record.Record
		if err == nil {
			r, err = all[i].agrees(o.Data)
		}
		if err != nil {
			all[i].blame(err)
			return nil //nolint:nilerr // one damaged record stops no other
		}
		return each(i, o.Data, r)
	})
}

// findRecords finds the blobs of the records through the record commits and their trees.
// Checkpoints without a record get an Err and are left out of the result.
func (s *records) findRecords(ctx context.Context, b *git.Batch, all []*Summary) ([]*Summary, error) {
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
		entries, err := git.ParseTree(o.Data, s.repo.HashLen())
		for _, e := range entries {
			if e.Name == RecordPath && e.Mode == git.ModeFile {
				sum.blob = e.OID
				return err
			}
		}
		return errors.Join(err, errors.New("it does not contain "+RecordPath))
	})
}

// follow reads one object per checkpoint and calls take with it. Checkpoints for which that fails
// get an Err; the others are returned.
func follow(ctx context.Context, b *git.Batch, all []*Summary, object func(*Summary) name.OID, take func(*Summary, git.Object) error) ([]*Summary, error) {
	oids := gather.List(all, func(sum *Summary) string { return string(object(sum)) })
	err := b.Prove(ctx, oids, maxCommit, func(i int, o git.Object, err error) error {
		if err == nil {
			err = take(all[i], o)
		}
		all[i].blame(err)
		return nil
	})
	return slices.DeleteFunc(slices.Clone(all), func(sum *Summary) bool { return sum.Err != nil }), err
}

// agrees parses raw and checks that it is the record of this checkpoint, with the checksum that its
// commit names.
func (s *Summary) agrees(raw []byte) (*record.Record, error) {
	r, changed, err := record.ParseSealed(raw)
	switch {
	case err != nil:
		return nil, err
	case r.ID != s.ID:
		return nil, fmt.Errorf("it belongs to %s", r.ID)
	case r.Checksum != s.Checksum:
		return nil, errors.New("it is not the one that its commit names")
	}
	s.Skipped = r.Snapshot.Skipped
	s.Agent, _ = r.Agent()
	return r, changed
}

// blame sets Err, if err is not nil.
func (s *Summary) blame(err error) {
	if err != nil {
		s.Err = &DamagedError{What: "record", OID: s.record, Err: err}
	}
}
