package proof

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

// facts are what the objects of one checkpoint commit hold. A later one is there only
// when the earlier are.
type facts struct {
	oid     name.OID
	commit  git.Commit
	summary record.Summary
	mOID    name.OID       // the commit of its record
	mTree   name.OID       // and the tree of that
	tree    Tree           // of M
	record  *record.Record // nil when it could not be read

	findings []Finding
	before   int  // how many of the findings are about what comes before the record
	noted    bool // its record is the note on it
}

// forget drops the record and what was found of it.
func (f *facts) forget() { f.record, f.findings = nil, f.findings[:f.before] }

// looked is a checkpoint with what its objects hold: of its own commit, and of what its
// ref points at, which is the same but for damage.
type looked struct {
	Subject
	own, held *facts // nil: there is none
}

// each gives both, or the one.
func (l *looked) each() iter.Seq[*facts] {
	return func(yield func(*facts) bool) {
		if l.own != nil && !yield(l.own) {
			return
		}
		if l.held != nil && l.held != l.own {
			yield(l.held)
		}
	}
}

func (f *facts) find(kind Kind, object name.OID, format string, args ...any) {
	f.findings = append(f.findings, Finding{kind, string(object), fmt.Sprintf(format, args...), ""})
}

// has reports whether the tree of M holds something there.
func (f *facts) has(entry string) bool { return f.tree.At(entry).OID != "" }

// Tree is what a record commit holds: a handful of entries.
type Tree []git.Entry

// At is the entry of a name, the last one where a hostile tree has several.
func (t Tree) At(entry string) git.Entry {
	for i := len(t) - 1; i >= 0; i-- {
		if t[i].Name == entry {
			return t[i]
		}
	}
	return git.Entry{}
}

// recordPath is where M has the record.
const recordPath = "checkpoint.json"

// keepCommit bounds the commits and trees of a checkpoint that are kept to be read.
const keepCommit = 64 << 20

// readFacts reads the objects of the commits of some checkpoints, one kind after the
// other, up to where each has its record.
func (j *judging) readFacts(ctx context.Context, subjects []Subject) error {
	j.looked, j.facts = j.looked[:0], nil
	j.room = slices.Grow(j.room[:0], 2*len(subjects)) // so that it stays where it is
	order := j.order[:0]
	of := func(oid name.OID) *facts {
		if oid == "" {
			return nil
		}
		j.room = append(j.room, facts{oid: oid})
		order = append(order, &j.room[len(j.room)-1])
		return order[len(order)-1]
	}
	for _, s := range subjects {
		l := looked{Subject: s, own: of(s.Commit())}
		if l.held = l.own; s.Ref != s.Commit() {
			l.held = of(s.Ref)
		}
		j.looked = append(j.looked, l)
	}
	j.order = order
	for _, stage := range []func(context.Context, []*facts) ([]*facts, error){j.readCommits, j.readRecordCommits, j.readRecordTrees} {
		var err error
		if order, err = stage(ctx, order); err != nil {
			return err
		}
	}
	for i := range j.room {
		j.room[i].before = len(j.room[i].findings)
	}
	return nil
}

// prove asks for one object of each and hands each its own, in no order; what it answers
// goes on.
func (j *judging) prove(ctx context.Context, all []*facts, object func(*facts) name.OID, keep int64, each func(*facts, git.Object, error) bool) ([]*facts, error) {
	j.oids = j.oids[:0]
	for _, f := range all {
		j.oids = append(j.oids, string(object(f)))
	}
	stops := 0
	err := j.batch.Prove(ctx, j.oids, keep, func(i int, o git.Object, err error) error {
		if !each(all[i], o, err) {
			all[i] = nil
			stops++
		}
		return nil
	})
	if stops > 0 {
		all = slices.DeleteFunc(all, func(f *facts) bool { return f == nil })
	}
	return all, err
}

func (j *judging) readCommits(ctx context.Context, all []*facts) ([]*facts, error) {
	return j.prove(ctx, all, func(f *facts) name.OID { return f.oid }, keepCommit, func(f *facts, o git.Object, err error) bool {
		f.commit, err = commitOf(o, err)
		if err == nil {
			f.summary, err = record.ParseMessage(f.commit.Message)
		}
		n := len(f.commit.Parents)
		switch {
		case errors.Is(err, git.ErrMissing):
			f.find(CommitMissing, f.oid, "its commit is missing")
		case errors.Is(err, git.ErrGarbled), errors.Is(err, git.ErrUnreadable):
			f.find(CommitGarbled, f.oid, "its commit is garbled: %v", err)
		case err != nil:
			f.find(CommitForeign, f.oid, "its commit is no checkpoint: %v", err)
		case n < 1 || n > 2:
			f.find(CommitForeign, f.oid, "its commit is no checkpoint: it has %d parents", n)
		default:
			f.mOID = f.commit.Parents[n-1]
			return true
		}
		return false
	})
}

func (j *judging) readRecordCommits(ctx context.Context, all []*facts) ([]*facts, error) {
	return j.prove(ctx, all, func(f *facts) name.OID { return f.mOID }, keepCommit, func(f *facts, o git.Object, err error) bool {
		m, err := commitOf(o, err)
		f.mTree = name.OID(strings.Clone(string(m.Tree))) // the rest of it goes
		switch {
		case errors.Is(err, git.ErrMissing):
			f.find(RecordCommitMissing, f.mOID, "the commit of its record is missing")
		case err != nil:
			f.find(RecordCommitGarbled, f.mOID, "the commit of its record is garbled: %v", err)
		case len(m.Parents) > 0:
			f.find(RecordCommitGarbled, f.mOID, "the commit of its record has parents, which no record's has")
		default:
			return true
		}
		return false
	})
}

func (j *judging) readRecordTrees(ctx context.Context, all []*facts) ([]*facts, error) {
	return j.prove(ctx, all, func(f *facts) name.OID { return f.mTree }, keepCommit, func(f *facts, o git.Object, err error) bool {
		entries, err := treeOf(o, err, j.store.Repo.HashLen())
		if err != nil {
			kind, what := treeFault(err)
			f.find(kind, f.mTree, "the tree of its record is %s", what)
			return false
		}
		if f.tree = entries; f.tree == nil {
			f.tree = Tree{}
		}
		if e := f.tree.At(recordPath); e.Mode != git.ModeFile {
			f.find(RecordMissing, f.mOID, "the commit of its record holds no %s", recordPath)
			return false
		}
		return true
	})
}

// treeFault is the kind of a tree that could not be read, and a word for it.
func treeFault(err error) (Kind, string) {
	if errors.Is(err, git.ErrMissing) {
		return TreeMissing, "missing"
	}
	return TreeGarbled, fmt.Sprintf("garbled: %v", err)
}

// room bounds the records that a reader holds at once, but for one that is larger.
const room = 8 << 20

// errRoom says that more was read than there is room for.
var errRoom = errors.New("no room")

// readRecordsOf reads the records of the first of some checkpoints, as many as there is
// room for, and says of how many.
func (j *judging) readRecordsOf(ctx context.Context, some []looked) (int, error) {
	for {
		n := min(j.most, len(some))
		all := j.order[:0]
		for i := range some[:n] {
			for f := range some[i].each() {
				if e := f.tree.At(recordPath); e.OID != "" && e.Mode == git.ModeFile {
					all = append(all, f)
				}
			}
		}
		j.order = all
		space := int64(room)
		if n == 1 {
			space = 2 * record.MaxSize
		}
		err := j.readRecords(ctx, all, space)
		if !errors.Is(err, errRoom) {
			return n, err
		}
		for _, f := range all { // they are read again, fewer at once
			f.forget()
		}
		j.most = max(1, n/16)
	}
}

// readRecords reads the records, of at most space bytes together. One that is garbled or
// wrong is read as far as it can be, so that it is said what became of it.
func (j *judging) readRecords(ctx context.Context, all []*facts, space int64) error {
	j.oids = j.oids[:0]
	for _, f := range all {
		j.oids = append(j.oids, string(f.tree.At(recordPath).OID))
	}
	return j.batch.Prove(ctx, j.oids, record.MaxSize, func(i int, o git.Object, err error) error {
		if space -= int64(len(o.Data)); space < 0 {
			return errRoom
		}
		all[i].takeRecord(o, err)
		return nil
	})
}

func (f *facts) takeRecord(o git.Object, err error) {
	oid := f.tree.At(recordPath).OID
	switch {
	case errors.Is(err, git.ErrMissing):
		f.find(RecordMissing, oid, "its record is missing")
		return
	case err == nil && o.Type != "blob":
		f.find(RecordUnreadable, oid, "its record is a %s", o.Type)
		return
	case o.Data == nil && o.Size > 0:
		f.find(RecordLimits, oid, "its record has %d bytes, and %d are the limit", o.Size, int64(record.MaxSize))
		return
	}
	if o.Data != nil || err == nil {
		rec, kind, text := parseRecord(o.Data)
		if kind != "" {
			f.find(kind, oid, "%s", text)
		}
		f.record = rec
	}
	if err != nil {
		f.find(RecordGarbled, oid, "its record is garbled: %v", err)
		f.record = nil
	}
}

// parseRecord reads a record and says what is wrong with it by itself.
func parseRecord(raw []byte) (*record.Record, Kind, string) {
	rec, changed, err := record.ParseSealed(raw, record.Limits{})
	var format *record.FormatError
	var size *record.SizeError
	var syntax *record.JSONError
	switch {
	case errors.As(err, &format):
		return nil, RecordFormat, format.Error()
	case errors.As(err, &size):
		return nil, RecordLimits, "its record is too large: " + size.Error()
	case errors.As(err, &syntax) && syntax.TooDeep:
		return nil, RecordLimits, "its record is over the limits: " + syntax.Error()
	case err != nil:
		return nil, RecordUnreadable, "its record cannot be read: " + err.Error()
	}
	if changed != nil {
		return rec, RecordChecksum, "its record was changed: " + changed.Error()
	}
	return rec, "", ""
}
