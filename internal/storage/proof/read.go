package proof

// This file reads the objects of checkpoints for judge.go: first all commits of a part, then all
// record commits, then their trees, then the records, each kind in one batch. Records can be large,
// so they are read for as many checkpoints as fit into memory.

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// facts are what was read below one checkpoint commit. They are read in stages: commit, record
// commit, tree of that, record. If a stage fails, the later fields are empty and findings says why.
type facts struct {
	oid     name.OID
	commit  git.Commit
	summary record.Summary
	mOID    name.OID       // M, the record commit
	mTree   name.OID       // the tree of M
	tree    Tree           // the entries of mTree
	record  *record.Record // nil if it could not be read

	findings []Finding
	before   int // how many of the findings were there before the record was read
}

// subjectFacts is a checkpoint with the facts of its commit, and of what its ref points at. Without
// damage these are the same.
type subjectFacts struct {
	Subject
	own, held *facts // nil: there is none
}

// each returns own and held, once if they are the same.
func (l *subjectFacts) each() iter.Seq[*facts] {
	return func(yield func(*facts) bool) {
		if l.own != nil && !yield(l.own) {
			return
		}
		if l.held != nil && l.held != l.own {
			yield(l.held)
		}
	}
}

// lacksCommit reports whether one of its commits is the given one, and missing.
func (l *subjectFacts) lacksCommit(oid name.OID) bool {
	for f := range l.each() {
		if f.oid == oid && len(f.findings) > 0 && f.findings[0].Kind == CommitMissing {
			return true
		}
	}
	return false
}

// forget drops the records and the findings about them: to free the memory, or to read them again.
func forget(some []subjectFacts) {
	for i := range some {
		for f := range some[i].each() {
			f.record, f.findings = nil, f.findings[:f.before]
		}
	}
}

// find adds a finding about these objects.
func (f *facts) find(kind Kind, object name.OID, format string, args ...any) {
	f.findings = append(f.findings, Finding{kind, string(object), fmt.Sprintf(format, args...), ""})
}

// has reports whether the tree of M has an entry.
func (f *facts) has(entry string) bool { return f.tree.At(entry).OID != "" }

// Tree has the entries of a record commit's tree. There are only a few, so they are searched from
// end to end.
type Tree []git.Entry

// At returns the entry with a name, or a zero one. A hostile tree may have several: then the last
// one.
func (t Tree) At(entry string) git.Entry {
	for i := len(t) - 1; i >= 0; i-- {
		if t[i].Name == entry {
			return t[i]
		}
	}
	return git.Entry{}
}

// keepCommit is the most bytes of a commit or tree that are kept in memory.
const keepCommit = 64 << 20

// readFacts reads commits, record commits and their trees for some checkpoints, one kind of object
// after the other, so that each kind is one request to git.
func (j *judging) readFacts(ctx context.Context, subjects []Subject) error {
	j.looked = nil
	var all []*facts
	of := func(oid name.OID) *facts {
		if oid == "" {
			return nil
		}
		f := &facts{oid: oid}
		all = append(all, f)
		return f
	}
	for _, s := range subjects {
		l := subjectFacts{Subject: s, own: of(s.Commit())}
		if l.held = l.own; s.Ref != s.Commit() {
			l.held = of(s.Ref)
		}
		j.looked = append(j.looked, l)
	}
	left := all
	for _, stage := range []func(context.Context, []*facts) ([]*facts, error){j.readCommits, j.readRecordCommits, j.readRecordTrees} {
		var err error
		if left, err = stage(ctx, left); err != nil {
			return err
		}
	}
	for _, f := range all {
		f.before = len(f.findings)
	}
	return nil
}

// prove requests one object for each of the facts, and calls each with it, in any order. It returns
// those for which each returned true.
func (j *judging) prove(ctx context.Context, all []*facts, object func(*facts) name.OID, keep int64, each func(*facts, git.Object, error) bool) ([]*facts, error) {
	oids := gather.List(all, func(f *facts) string { return string(object(f)) })
	var left []*facts
	err := j.batch.Prove(ctx, oids, keep, func(i int, o git.Object, err error) error {
		if each(all[i], o, err) {
			left = append(left, all[i])
		}
		return nil
	})
	return left, err
}

// readCommits reads the checkpoint commits and their trailers.
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
			f.find(CommitForeign, f.oid, "its commit is not a checkpoint: %v", err)
		// The parents are HEAD and M, or only M.
		case n < 1 || n > 2:
			f.find(CommitForeign, f.oid, "its commit is not a checkpoint: it has %d parents", n)
		default:
			f.mOID = f.commit.Parents[n-1]
			return true
		}
		return false
	})
}

// readRecordCommits reads the record commits.
func (j *judging) readRecordCommits(ctx context.Context, all []*facts) ([]*facts, error) {
	return j.prove(ctx, all, func(f *facts) name.OID { return f.mOID }, keepCommit, func(f *facts, o git.Object, err error) bool {
		m, err := commitOf(o, err)
		f.mTree = name.OID(strings.Clone(string(m.Tree))) // a copy, so that the commit's memory can be freed
		switch {
		case errors.Is(err, git.ErrMissing):
			f.find(RecordCommitMissing, f.mOID, "the commit of its record is missing")
		case err != nil:
			f.find(RecordCommitGarbled, f.mOID, "the commit of its record is garbled: %v", err)
		case len(m.Parents) > 0:
			f.find(RecordCommitGarbled, f.mOID, "the commit of its record has parents, but must have none")
		default:
			return true
		}
		return false
	})
}

// readRecordTrees reads the trees of the record commits.
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
		if e := f.tree.At(store.RecordPath); e.Mode != git.ModeFile {
			f.find(RecordMissing, f.mOID, "the commit of its record holds no %s", store.RecordPath)
			return false
		}
		return true
	})
}

// treeFault returns the kind of damage of a tree that could not be read, and words for it.
func treeFault(err error) (Kind, string) {
	if errors.Is(err, git.ErrMissing) {
		return TreeMissing, "missing"
	}
	return TreeGarbled, fmt.Sprintf("garbled: %v", err)
}

// errRoom says that the records need more memory than room.
var errRoom = errors.New("no room")

// readRecords reads the records of checkpoints. A damaged record is read as far as possible, to
// report what is wrong with it. The error is errRoom if several need more memory than room.
func (j *judging) readRecords(ctx context.Context, some []subjectFacts) error {
	const room = 8 << 20 // how many bytes of records a reader holds at once, unless one checkpoint needs more
	var all []*facts
	var oids []string
	for i := range some {
		for f := range some[i].each() {
			if e := f.tree.At(store.RecordPath); e.OID != "" && e.Mode == git.ModeFile {
				all, oids = append(all, f), append(oids, string(e.OID))
			}
		}
	}
	space := int64(room)
	return j.batch.Prove(ctx, oids, record.MaxSize, func(i int, o git.Object, err error) error {
		if space -= int64(len(o.Data)); space < 0 && len(some) > 1 {
			return errRoom
		}
		all[i].takeRecord(o, err)
		return nil
	})
}

// takeRecord stores a record in the facts, or what is wrong with it.
func (f *facts) takeRecord(o git.Object, err error) {
	oid := f.tree.At(store.RecordPath).OID
	switch {
	case errors.Is(err, git.ErrMissing):
		f.find(RecordMissing, oid, "its record is missing")
		return
	case err == nil && o.Type != "blob":
		f.find(RecordUnreadable, oid, "its record is a %s", o.Type)
		return
	case o.Data == nil && o.Size > 0:
		f.find(RecordLimits, oid, "its record has %d bytes; the limit is %d", o.Size, int64(record.MaxSize))
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

// parseRecord parses a record. It returns what is wrong with the record itself, without regard to
// its surroundings.
func parseRecord(raw []byte) (*record.Record, Kind, string) {
	rec, changed, err := record.ParseSealed(raw)
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
