package proof

// This file judges checkpoints. Speed matters, because a repository may have a hundred thousand of
// them: several readers each take every n-th part of 128 checkpoints, read the objects of a part
// kind by kind (read.go), and send verdicts to the caller in order.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// Verdict says what is wrong with one checkpoint.
type Verdict struct {
	Subject
	Findings []Finding
	Sound    bool // a rollback to it works, as far as was checked
	Label    string
	Record   *record.Record // nil if it cannot be read
	Message  record.Summary // the trailers of its commit, as far as they could be read
	Parts    Parts

	beside int // how many of the first findings are about what a wrong ref points at
}

// Parts are the objects of a checkpoint, as far as they could be read.
type Parts struct {
	Commit       git.Commit
	RecordCommit name.OID // M
	Tree         Tree     // the tree of M; nil if it could not be read
	Signed       bool     // the commit has a signature; it was not checked

	recordTree name.OID
}

// head returns the commit that HEAD was at, or "" if there was none or the commit could not be
// read.
func (v *Verdict) head() name.OID {
	if p := v.Parts.Commit.Parents; len(p) == 2 {
		return p[0]
	}
	return ""
}

// Whole reports whether a moved ref is all that is wrong with what it points at: the record there is the
// one that the journal names.
func (v *Verdict) Whole() bool { return v.beside == 1 && v.Findings[0].Kind == RefMoved }

// Judge judges checkpoints one after the other and calls each with every verdict. With deep, every
// object below them is read; nil reads what the records need.
func (p *Session) Judge(ctx context.Context, subjects Subjects, deep *Deep, each func(Verdict) error) error {
	return p.JudgeParts(ctx, subjects, deep, func(verdicts []Verdict) error {
		for _, v := range verdicts {
			if err := each(v); err != nil {
				return err
			}
		}
		return nil
	})
}

// JudgeParts is Judge for callers that handle several verdicts at once. The slice is valid until
// each returns. Meanwhile several goroutines read the next checkpoints. The order is that of
// subjects.
func (p *Session) JudgeParts(ctx context.Context, subjects Subjects, deep *Deep, each func([]Verdict) error) error {
	const part = 128 // how many checkpoints are judged at once. It bounds the memory of a long session
	ctx, stop := context.WithCancel(ctx)
	judged := make([]chan someJudged, (subjects.Len()+part-1)/part)
	for i := range judged {
		judged[i] = make(chan someJudged) // no buffer: readers that are faster than each must wait, not fill the memory
	}
	readers := git.Readers()
	var group sync.WaitGroup
	for k := range readers {
		group.Go(func() {
			j := &judging{Session: p, batch: p.store.Repo.Objects.Batch()}
			for i := k; i < len(judged); i += readers { // in turns, because the results are taken in order
				j.judgePart(ctx, subjects.Some(i*part, min((i+1)*part, subjects.Len())), judged[i])
				close(judged[i])
			}
		})
	}
	defer func() { // nobody may read when the caller closes the repository
		stop()
		group.Wait()
	}()
	for _, some := range judged {
		for s := range some {
			if s.err == nil {
				s.err = s.finish(ctx, deep, p.Name)
			}
			if s.err == nil {
				s.err = each(s.verdicts)
			}
			if s.err != nil {
				return s.err
			}
		}
	}
	return ctx.Err()
}

// someJudged are verdicts before the last step, finish. That step runs in the caller's goroutine,
// because a Deep is not safe for several.
type someJudged struct {
	verdicts []Verdict
	lacks    [][]need // for each verdict: the objects that must exist
	missing  map[name.OID]bool
	err      error
}

// judging is one reader of JudgeParts, and what it has read for the present part.
type judging struct {
	*Session
	batch  *git.Batch
	looked []subjectFacts
	notes  map[name.OID]name.ID // for a note that is not its checkpoint's record: whose record it is
}

// need is an object that a checkpoint needs, and the finding if it is missing.
type need struct {
	oid  name.OID
	kind Kind
	what string
}

// judgePart judges some checkpoints. It sends them on in groups as large as the memory for records
// allows.
func (j *judging) judgePart(ctx context.Context, subjects []Subject, to chan<- someJudged) {
	give := func(s someJudged) error {
		select {
		case to <- s:
			return s.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := j.readFacts(ctx, subjects)
	if err == nil {
		err = j.judgeSome(ctx, j.looked, give)
	}
	if err != nil {
		give(someJudged{err: err}) //nolint:errcheck // it ends anyway
	}
}

// judgeSome reads the records of checkpoints, judges them and gives the result. If the records are
// too large it does that for fewer at a time.
func (j *judging) judgeSome(ctx context.Context, some []subjectFacts, give func(someJudged) error) error {
	err := j.readRecords(ctx, some)
	if errors.Is(err, errRoom) {
		forget(some)
		for fewer := range slices.Chunk(some, max(1, len(some)/16)) {
			if err := j.judgeSome(ctx, fewer, give); err != nil {
				return err
			}
		}
		return nil
	}
	if err == nil {
		err = j.readNotes(ctx, some)
	}
	if err != nil {
		return err
	}
	s := someJudged{verdicts: make([]Verdict, len(some)), lacks: make([][]need, len(some))}
	var needs []name.OID
	for i := range some {
		s.verdicts[i], s.lacks[i] = j.verdictOf(&some[i])
		needs = append(needs, gather.List(s.lacks[i], func(n need) name.OID { return n.oid })...)
	}
	s.missing, s.err = j.batch.Missing(ctx, needs)
	forget(some) // the verdicts have what is still asked for
	return give(s)
}

// finish adds what is missing and, with deep, what is damaged below. Then it decides whether each
// checkpoint of the session is sound, and adds hints.
func (s *someJudged) finish(ctx context.Context, deep *Deep, in name.Session) error {
	if deep != nil {
		if err := deep.addDamage(ctx, s.verdicts); err != nil {
			return err
		}
	}
	for i := range s.verdicts {
		v := &s.verdicts[i]
		for _, n := range s.lacks[i] {
			// With deep, missing trees and blobs have been reported by their paths.
			if s.missing[n.oid] && (deep == nil || n.kind == HeadMissing) {
				v.find(n.kind, string(n.oid), n.what+" is missing")
			}
		}
		v.Sound = v.Record != nil && Restorable(v.Findings[v.beside:])
		for k := range v.Findings {
			if f := &v.Findings[k]; f.Hint == "" {
				f.Hint = hintOf(f.Kind, v.ID)
				if f.Kind == CommitMissing || f.Kind == RecordCommitMissing {
					// An ordinary fetch takes the ref for proof that its objects are here.
					f.Hint = "if a remote has it, `git fetch --refetch REMOTE " + string(name.CheckpointRef(in, v.ID)) + "` brings it back; otherwise " + f.Hint
				}
			}
		}
	}
	return nil
}

// find adds a finding. Its hint is added by finish.
func (v *Verdict) find(kind Kind, object, message string) {
	v.Findings = append(v.Findings, Finding{Kind: kind, Object: object, Message: message})
}

// verdictOf judges one checkpoint by what was read of it. It also returns the objects that must exist.
func (j *judging) verdictOf(s *subjectFacts) (Verdict, []need) {
	v := Verdict{Subject: s.Subject}
	if s.Entry != nil {
		v.Label = s.Entry.Label
	}
	f := s.own
	if f == nil {
		v.find(EventMismatch, string(s.Entry.Event().OID), "its event names no commit")
		return v, nil
	}
	v.Record, v.Message = f.record, f.summary
	v.Parts = Parts{Commit: f.commit, RecordCommit: f.mOID, Tree: f.tree, recordTree: f.mTree, Signed: strings.Contains("\n"+f.commit.Other, "\ngpgsig")} // or gpgsig-sha256
	if v.Label == "" {
		v.Label = f.summary.Label
	}
	if s.Entry == nil {
		j.judgeUnnamed(&v, f)
	} else {
		j.judgeRef(&v, s.held)
		v.beside = len(v.Findings)
		v.Findings = append(v.Findings, f.findings...)
		j.judgeRecord(&v, s.Entry, f)
		j.judgeEvent(&v, f)
	}
	j.judgeContents(&v, f)
	// A checkpoint that no event names gets its note when it is adopted.
	if s.Entry != nil || j.State == nil {
		j.judgeNote(&v, f)
	}
	if s.Entry != nil {
		j.judgeTags(&v)
	}
	return v, f.needs()
}

// judgeUnnamed judges a ref that no event names.
func (j *judging) judgeUnnamed(v *Verdict, f *facts) {
	ref := string(name.CheckpointRef(j.Name, v.ID))
	// Nothing else is worth saying about a ref that points to an ordinary commit.
	if i := slices.IndexFunc(f.findings, func(f Finding) bool { return f.Kind == CommitForeign }); i >= 0 {
		v.find(RefForeign, ref, "its ref points at "+v.Ref.Short()+", but that is not a checkpoint: "+f.findings[i].Message)
		return
	}
	v.Findings = append(v.Findings, f.findings...)
	if f.summary.ID != "" && (f.summary.ID != v.ID || f.summary.Session != j.Name) {
		v.find(RefID, ref, fmt.Sprintf("its ref points at checkpoint %s of session %q", f.summary.ID, f.summary.Session))
		return
	}
	j.judgeRecord(v, nil, f)
	if j.State == nil {
		return // whether an event names it is not known: a finding of the session reports that
	}
	v.find(EventMissing, ref, "no event of the journal names it; perhaps a push was cut off, or the journal was set back")
}

// judgeRef compares a ref with the commit that the journal names. If they differ, what the ref
// points at is judged too, because that is what git shows to everybody.
func (j *judging) judgeRef(v *Verdict, f *facts) {
	ref := string(name.CheckpointRef(j.Name, v.ID))
	switch {
	case v.Ref == "":
		v.find(RefMissing, ref, "its ref is gone, and no tombstone says that it was pruned")
		return
	case v.Ref == v.Entry.Event().Commit:
		return
	}
	moved := fmt.Sprintf("its ref points at %s, but the journal names %s", v.Ref.Short(), v.Entry.Event().Commit.Short())
	for _, k := range f.findings {
		if k.Kind != CommitForeign && k.Kind != CommitMissing {
			v.find(k.Kind, k.Object, "in what its ref points at: "+k.Message)
		}
	}
	if f.record != nil {
		j.judgeRecord(v, v.Entry, f)
	}
	switch s := f.summary; {
	case slices.ContainsFunc(f.findings, func(k Finding) bool { return k.Kind == CommitForeign || k.Kind == CommitMissing }):
		v.find(RefForeign, ref, moved+"; that is not a checkpoint")
	case s.ID != v.ID || s.Session != j.Name:
		v.find(RefID, ref, fmt.Sprintf("%s; that is checkpoint %s of session %q", moved, s.ID, s.Session))
	default:
		v.find(RefMoved, ref, moved)
	}
}

// judgeRecord compares a record with the id and event that it belongs to, and with the message of
// its commit.
func (j *judging) judgeRecord(v *Verdict, e *journal.Entry, f *facts) {
	r := f.record
	if r == nil {
		return
	}
	oid := string(f.tree.At(store.RecordPath).OID)
	if r.ID != v.ID || r.Session != j.Name {
		v.find(RecordID, oid, fmt.Sprintf("its record belongs to %s of session %q", r.ID, r.Session))
	}
	// A changed record has been reported already, and of course has another checksum.
	changed := slices.ContainsFunc(f.findings, func(k Finding) bool { return k.Kind == RecordChecksum })
	if e != nil && e.Event().Record != "" && r.Checksum != e.Event().Record && !changed {
		v.find(RecordOther, oid, "its record is intact, but is not the one that the journal names")
	}
	if differ := record.Agree(r, f.summary); len(differ) > 0 {
		v.find(TrailerMismatch, string(f.oid), "the message of its commit and its record disagree about "+strings.Join(differ, ", "))
	}
}

// judgeEvent compares what events say about a checkpoint with its record.
func (j *judging) judgeEvent(v *Verdict, f *facts) {
	e := v.Entry
	// The first event that names a checkpoint counts. A later one must agree.
	if l := e.LastNamed; l != nil && l.Commit != e.Event().Commit {
		v.find(EventConflict, string(l.OID), fmt.Sprintf("two events name it with different commits, %s and %s", e.Event().Commit.Short(), l.Commit.Short()))
	}
	r := f.record
	if r == nil || r.ID != v.ID {
		return
	}
	var differ []string
	for _, m := range []struct {
		name string
		same bool
	}{
		{"label", e.Label == r.Label}, {"step", e.Step == r.Step}, {"step name", e.Event().StepName == r.StepName},
		{"iteration", e.Event().Iteration == r.Iteration}, {"milestone", e.Milestone == r.Milestone}, {"trigger", e.Event().Trigger == r.Trigger},
		{"status", e.Event().CheckpointStatus == r.Status}, {"previous", e.Event().Previous == r.Previous}, {"rebuilt_from", e.Event().RebuiltFrom == r.RebuiltFrom},
	} {
		if !m.same {
			differ = append(differ, m.name)
		}
	}
	if len(differ) > 0 {
		v.find(EventMismatch, string(e.Event().OID), "the event that names it and its record disagree about "+strings.Join(differ, ", "))
	}
}

// judgeTags reports tags that should be on this checkpoint and are not, and tags that are on it and
// should not be.
func (j *judging) judgeTags(v *Verdict) {
	for ref, have := range j.odd {
		want := j.derived[ref]
		switch {
		case j.mayLag(ref, have):
		case want == v.Entry.Event().Commit:
			v.find(TagMoved, string(ref), fmt.Sprintf("%s points at %s, not at this checkpoint", ref, have.Short()))
		case want == "" && have == v.Entry.Event().Commit && v.Ref != "": // a missing ref is reported instead
			v.find(TagMoved, string(ref), fmt.Sprintf("%s points at it, but it is not the newest live milestone of the step", ref))
		}
	}
}
