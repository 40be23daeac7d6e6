package proof

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

// Verdict is what is wrong with one checkpoint.
type Verdict struct {
	Subject
	Findings []Finding
	Sound    bool // a rollback to it works, as far as was looked
	Label    string
	Record   *record.Record // nil when it cannot be read
	Message  record.Summary // what the commit's message says, as far as it could be read
	Parts    Parts

	beside int // how many of the findings, the first ones, are about what only the ref holds
}

// Parts are the objects of a checkpoint as far as they could be read.
type Parts struct {
	Commit       git.Commit
	RecordCommit name.OID
	Tree         Tree // of the record commit; nil when it could not be read
	Signed       bool // the commit carries a signature

	recordTree name.OID
}

// head is the commit that HEAD was at, "" when there was none or it is not known.
func (v *Verdict) head() name.OID {
	if p := v.Parts.Commit.Parents; len(p) == 2 {
		return p[0]
	}
	return ""
}

// part is how many checkpoints are judged at once: memory does not grow with a session.
const part = 128

// Judge judges checkpoints one after the other and hands each verdict on.
// With deep every object below them is read; nil: as far as a record goes.
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

// JudgeParts is Judge for who has something to ask about several at once, which are good
// until each returns. While it looks at some the next ones are read, by as many readers as
// can be at work at once.
func (p *Session) JudgeParts(ctx context.Context, subjects Subjects, deep *Deep, each func([]Verdict) error) error {
	ctx, stop := context.WithCancel(ctx)
	judged := make([]chan someJudged, (subjects.Len()+part-1)/part)
	for i := range judged {
		judged[i] = make(chan someJudged) // with room in it whoever is slow would fill the memory
	}
	readers := p.store.Repo.Batches()
	spare := make(chan []Verdict, 2*len(readers))
	var group sync.WaitGroup
	for k, reader := range readers {
		group.Go(func() {
			j := &judging{Session: p, batch: reader, spare: spare}
			for i := k; i < len(judged); i += len(readers) { // in turn, as they are waited for
				j.judgePart(ctx, subjects.Some(i*part, min((i+1)*part, subjects.Len())), judged[i])
				close(judged[i])
			}
		})
	}
	defer func() { // the repository is not closed while somebody reads
		stop()
		group.Wait()
	}()
	for _, some := range judged {
		for s := range some {
			if s.err == nil {
				s.err = s.settle(ctx, deep)
			}
			if s.err == nil {
				s.err = each(s.verdicts)
			}
			if s.err != nil {
				return s.err
			}
			select {
			case spare <- s.verdicts:
			default:
			}
		}
	}
	return ctx.Err()
}

// someJudged are verdicts that lack what a look at every object finds, and objects that
// may be missing.
type someJudged struct {
	verdicts []Verdict
	lacks    [][]need // of each verdict: what it cannot do without
	missing  map[name.OID]bool
	err      error
}

// judging is the judgement of some checkpoints at once, by one reader after the other.
type judging struct {
	*Session
	batch  *git.Batch
	most   int // checkpoints whose records there is room for, as far as is known
	looked []looked
	room   []facts              // of these
	order  []*facts             // that were read last
	facts  map[name.OID]*facts  // by their commits; nil: nobody asked yet
	notes  map[name.OID]name.ID // whose record a note that is none of its own holds
	oids   []string             // that were asked for last
	spare  chan []Verdict       // whose memory can be used again
	needs  []name.OID           // objects that have to be there
}

// need is an object that a checkpoint cannot do without.
type need struct {
	oid  name.OID
	kind Kind
	what string
}

// judgePart judges some checkpoints, and hands on as many at once as there is room for
// their records.
func (j *judging) judgePart(ctx context.Context, subjects []Subject, to chan<- someJudged) {
	give := func(s someJudged) error {
		select {
		case to <- s:
			return s.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	j.most = len(subjects)
	if err := j.readFacts(ctx, subjects); err != nil {
		give(someJudged{err: err}) //nolint:errcheck // it ends anyway
		return
	}
	for some := j.looked; len(some) > 0; {
		n, err := j.readRecordsOf(ctx, some)
		if err != nil {
			give(someJudged{err: err}) //nolint:errcheck // as above
			return
		}
		if give(j.judgeSome(ctx, some[:n])) != nil {
			return
		}
		some = some[n:]
	}
}

func (j *judging) judgeSome(ctx context.Context, some []looked) someJudged {
	j.notes, j.needs = nil, j.needs[:0]
	if err := j.readNotes(ctx, some); err != nil {
		return someJudged{err: err}
	}
	s := someJudged{verdicts: j.verdicts(len(some)), lacks: make([][]need, len(some))}
	all := make([]need, 0, 4*len(some))
	for i := range some {
		from := len(all)
		s.verdicts[i], all = j.judge(&some[i], all)
		s.lacks[i] = all[from:]
	}
	for _, n := range all {
		j.needs = append(j.needs, n.oid)
	}
	s.missing, s.err = j.batch.Missing(ctx, j.needs)
	for i := range some { // the verdict has what is still asked for
		for f := range some[i].each() {
			f.forget()
		}
	}
	return s
}

// factsOf is what was read of a commit.
func (j *judging) factsOf(commit name.OID) *facts {
	if j.facts == nil {
		j.facts = make(map[name.OID]*facts, len(j.room))
		for i := range j.room {
			j.facts[j.room[i].oid] = &j.room[i]
		}
	}
	return j.facts[commit]
}

// verdicts gives memory for so many.
func (j *judging) verdicts(n int) []Verdict {
	select {
	case used := <-j.spare:
		if cap(used) >= n {
			clear(used)
			return used[:n]
		}
	default:
	}
	return make([]Verdict, n)
}

// settle adds what is missing and, with deep, what is damaged below, and says of each
// what follows.
func (s *someJudged) settle(ctx context.Context, deep *Deep) error {
	if deep != nil {
		if err := deep.judge(ctx, s.verdicts); err != nil {
			return err
		}
	}
	for i := range s.verdicts {
		v := &s.verdicts[i]
		for _, n := range s.lacks[i] {
			if s.missing[n.oid] && (deep == nil || n.kind == HeadMissing) {
				v.find(n.kind, string(n.oid), n.what+" is missing")
			}
		}
		v.Sound = v.Record != nil && Restorable(v.Findings[v.beside:])
		for k := range v.Findings {
			if f := &v.Findings[k]; f.Hint == "" {
				f.Hint = hintOf(f.Kind, v.ID)
			}
		}
	}
	return nil
}

func (v *Verdict) find(kind Kind, object, message string) {
	v.Findings = append(v.Findings, Finding{Kind: kind, Object: object, Message: message})
}

// judge says what is wrong with a checkpoint, and adds which objects have to be there
// beside those that were read.
func (j *judging) judge(s *looked, needs []need) (Verdict, []need) {
	v := Verdict{Subject: s.Subject}
	if s.Entry != nil {
		v.Label = s.Entry.Label
	}
	f := s.own
	if f == nil {
		v.find(EventMismatch, string(s.Entry.Event().OID), "the event that names it names no commit")
		return v, needs
	}
	v.Record, v.Message = f.record, f.summary
	v.Parts = Parts{Commit: f.commit, RecordCommit: f.mOID, Tree: f.tree, recordTree: f.mTree, Signed: isSigned(f.commit)}
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
	if s.Entry != nil || j.State == nil {
		j.judgeNote(&v, f)
	}
	if s.Entry != nil {
		j.judgeTags(&v)
	}
	return v, f.need(needs)
}

func isSigned(c git.Commit) bool { return c.Other != "" && strings.Contains("\n"+c.Other, "\ngpgsig") }

// judgeUnnamed is for a ref that no event names.
func (j *judging) judgeUnnamed(v *Verdict, f *facts) {
	ref := string(name.CheckpointRef(j.Name, v.ID))
	if i := slices.IndexFunc(f.findings, func(f Finding) bool { return f.Kind == CommitForeign }); i >= 0 {
		v.find(RefForeign, ref, "its ref points at "+v.Ref.Short()+", and no checkpoint is there: "+f.findings[i].Message)
		return
	}
	v.Findings = append(v.Findings, f.findings...)
	if f.summary.ID != "" && (f.summary.ID != v.ID || f.summary.Session != j.Name) {
		v.find(RefID, ref, fmt.Sprintf("its ref points at checkpoint %s of session %q", f.summary.ID, f.summary.Session))
		return
	}
	j.judgeRecord(v, nil, f)
	if j.State == nil {
		return // whether an event names it is not known: that is said of the session
	}
	v.find(EventMissing, ref, "no event of the journal names it, as after a push that was cut off or a journal that was set back")
}

// judgeRef compares a ref with the commit that the journal names. What the ref holds
// instead is looked at too: it is what git shows to everybody.
func (j *judging) judgeRef(v *Verdict, f *facts) {
	ref := string(name.CheckpointRef(j.Name, v.ID))
	switch {
	case v.Ref == "":
		v.find(RefMissing, ref, "its ref is gone, and no tombstone says that it was pruned")
		return
	case v.Ref == v.Entry.Event().Commit:
		return
	}
	moved := fmt.Sprintf("its ref points at %s, and the journal names %s", v.Ref.Short(), v.Entry.Event().Commit.Short())
	for _, k := range f.findings {
		if k.Kind != CommitForeign && k.Kind != CommitMissing {
			v.find(k.Kind, k.Object, "of what its ref points at: "+k.Message)
		}
	}
	if f.record != nil {
		j.judgeRecord(v, v.Entry, f)
	}
	switch s := f.summary; {
	case slices.ContainsFunc(f.findings, func(k Finding) bool { return k.Kind == CommitForeign || k.Kind == CommitMissing }):
		v.find(RefForeign, ref, moved+"; no checkpoint is there")
	case s.ID != v.ID || s.Session != j.Name:
		v.find(RefID, ref, fmt.Sprintf("%s; that is checkpoint %s of session %q", moved, s.ID, s.Session))
	default:
		v.find(RefMoved, ref, moved)
	}
}

// judgeRecord compares a record with the id and the event that it is kept under, and
// with the message of its commit.
func (j *judging) judgeRecord(v *Verdict, e *journal.Entry, f *facts) {
	r := f.record
	if r == nil {
		return
	}
	oid := string(f.tree.At(recordPath).OID)
	if r.ID != v.ID || r.Session != j.Name {
		v.find(RecordID, oid, fmt.Sprintf("its record is that of %s of session %q", r.ID, r.Session))
	}
	changed := slices.ContainsFunc(f.findings, func(k Finding) bool { return k.Kind == RecordChecksum })
	if e != nil && e.Event().Record != "" && r.Checksum != e.Event().Record && !changed {
		v.find(RecordOther, oid, "its record is whole, and not the one that the journal names")
	}
	if differ := record.Agree(r, f.summary); len(differ) > 0 {
		v.find(TrailerMismatch, string(f.oid), "the message of its commit and its record disagree about "+strings.Join(differ, ", "))
	}
}

// judgeEvent compares what the events say of a checkpoint with its record.
func (j *judging) judgeEvent(v *Verdict, f *facts) {
	e := v.Entry
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

// judgeTags looks at the tags that this checkpoint ought to have, and those that name it
// and should not.
func (j *judging) judgeTags(v *Verdict) {
	for ref, have := range j.odd {
		want := j.derived[ref]
		switch {
		case j.mayLag(ref, have):
		case want == v.Entry.Event().Commit:
			v.find(TagMoved, string(ref), fmt.Sprintf("%s points at %s, not at this checkpoint", ref, have.Short()))
		case want == "" && have == v.Entry.Event().Commit && v.Ref != "": // else that is what is wrong
			v.find(TagMoved, string(ref), fmt.Sprintf("%s points at it, and it is not the newest live milestone of the step", ref))
		}
	}
}
