package proof

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	Tree         map[string]git.Entry // of the record commit; nil when it could not be read
	Signed       bool                 // the commit carries a signature

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
const part = 256

// Judge judges checkpoints one after the other and hands each verdict on.
// With deep every object below them is read; nil: as far as a record goes.
func (p *Session) Judge(ctx context.Context, subjects []Subject, deep *Deep, each func(Verdict) error) error {
	return p.JudgeParts(ctx, subjects, deep, func(verdicts []Verdict) error {
		for _, v := range verdicts {
			if err := each(v); err != nil {
				return err
			}
		}
		return nil
	})
}

// JudgeParts is Judge for who has something to ask about several at once. While each
// looks at some the next ones are read.
func (p *Session) JudgeParts(ctx context.Context, subjects []Subject, deep *Deep, each func([]Verdict) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	type judged struct {
		verdicts []Verdict
		err      error
	}
	parts := make(chan judged)
	go func() {
		defer close(parts)
		give := func(j judged) error {
			select {
			case parts <- j:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		for some := range slices.Chunk(subjects, part) {
			err := p.judgePart(ctx, some, deep, func(v []Verdict) error { return give(judged{verdicts: v}) })
			if err != nil {
				give(judged{err: err}) //nolint:errcheck // then nobody listens
				return
			}
		}
	}()
	defer func() { // the repository is not closed while somebody reads
		stop()
		for range parts { //nolint:revive // until it has ended
		}
	}()
	for j := range parts {
		if j.err != nil {
			return j.err
		}
		if err := each(j.verdicts); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// judging is the judgement of some checkpoints at once.
type judging struct {
	*Session
	facts map[name.OID]*facts
	notes map[name.OID]name.ID // whose record a note that is none of its own holds
	needs map[name.OID]need    // objects that have to be there
	order []name.OID           // of needs
}

// need is an object that a checkpoint cannot do without.
type need struct {
	kind Kind
	what string
}

// judgePart judges some checkpoints, and hands on as many at once as there is room for
// their records.
func (p *Session) judgePart(ctx context.Context, subjects []Subject, deep *Deep, each func([]Verdict) error) error {
	j := &judging{Session: p}
	var commits []name.OID
	for _, s := range subjects {
		commits = append(commits, s.Commit(), s.Ref)
	}
	var err error
	if j.facts, err = p.readFacts(ctx, commits); err != nil {
		return err
	}
	shares, err := j.share(ctx, subjects)
	if err != nil {
		return err
	}
	for _, some := range shares {
		verdicts, err := j.judgeSome(ctx, some, deep)
		if err != nil {
			return err
		}
		if err := each(verdicts); err != nil {
			return err
		}
	}
	return nil
}

// room bounds the records that are in memory at once, but for one that is larger.
const room = 16 << 20

// share splits checkpoints by the size of their records.
func (j *judging) share(ctx context.Context, subjects []Subject) ([][]Subject, error) {
	var specs []string
	var of []*facts
	for _, f := range j.facts {
		if oid := f.tree[recordPath].OID; oid != "" {
			specs, of = append(specs, string(oid)), append(of, f)
		}
	}
	sizes := map[*facts]int64{}
	err := j.store.Repo.Batch().Info(ctx, specs, func(i int, o git.Object, _ error) error {
		sizes[of[i]] = o.Size
		return nil
	})
	var out [][]Subject
	begun, full := 0, int64(0)
	for i, s := range subjects {
		size := sizes[j.facts[s.Commit()]] + sizes[j.facts[s.Ref]]
		if full += size; full > room && i > begun {
			out, begun, full = append(out, subjects[begun:i]), i, size
		}
	}
	return append(out, subjects[begun:]), err
}

func (j *judging) judgeSome(ctx context.Context, subjects []Subject, deep *Deep) ([]Verdict, error) {
	j.notes, j.needs, j.order = map[name.OID]name.ID{}, map[name.OID]need{}, nil
	if err := j.readRecordsOf(ctx, subjects); err != nil {
		return nil, err
	}
	if err := j.readNotes(ctx, subjects); err != nil {
		return nil, err
	}
	verdicts := make([]Verdict, len(subjects))
	lacks := make([][]name.OID, len(subjects))
	for i, s := range subjects {
		verdicts[i], lacks[i] = j.judge(s)
	}
	missing, err := j.store.Repo.Batch().Missing(ctx, j.order)
	if err == nil && deep != nil {
		err = deep.judge(ctx, verdicts)
	}
	if err != nil {
		return nil, err
	}
	for i := range verdicts {
		v := &verdicts[i]
		for _, oid := range lacks[i] {
			if n := j.needs[oid]; missing[oid] && (deep == nil || n.kind == HeadMissing) {
				v.find(n.kind, string(oid), n.what+" is missing")
			}
		}
		v.Sound = v.Record != nil && Restorable(v.Findings[v.beside:])
		for k := range v.Findings {
			if f := &v.Findings[k]; f.Hint == "" {
				f.Hint = hintOf(f.Kind, v.ID)
			}
		}
	}
	for _, s := range subjects { // the verdict has what is still asked for
		for _, oid := range []name.OID{s.Commit(), s.Ref} {
			if f := j.facts[oid]; f != nil {
				f.record, f.findings = nil, f.findings[:f.before]
			}
		}
	}
	return verdicts, nil
}

func (v *Verdict) find(kind Kind, object, message string) {
	v.Findings = append(v.Findings, Finding{Kind: kind, Object: object, Message: message})
}

// judge says what is wrong with a checkpoint, and which objects have to be there beside
// those that were read.
func (j *judging) judge(s Subject) (Verdict, []name.OID) {
	v := Verdict{Subject: s}
	if s.Entry != nil {
		v.Label = s.Entry.Label
	}
	f := j.facts[s.Commit()]
	if f == nil {
		v.find(EventMismatch, string(s.Entry.OID), "the event that names it names no commit")
		return v, nil
	}
	v.Record, v.Message = f.record, f.summary
	v.Parts = Parts{Commit: f.commit, RecordCommit: f.mOID, Tree: f.tree, recordTree: f.m.Tree, Signed: strings.Contains("\n"+f.commit.Other, "\ngpgsig")}
	if v.Label == "" {
		v.Label = f.summary.Label
	}
	if s.Entry == nil {
		j.judgeUnnamed(&v, f)
	} else {
		j.judgeRef(&v)
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
	return v, j.need(f)
}

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
func (j *judging) judgeRef(v *Verdict) {
	ref := string(name.CheckpointRef(j.Name, v.ID))
	switch {
	case v.Ref == "":
		v.find(RefMissing, ref, "its ref is gone, and no tombstone says that it was pruned")
		return
	case v.Ref == v.Entry.Commit:
		return
	}
	f := j.facts[v.Ref]
	moved := fmt.Sprintf("its ref points at %s, and the journal names %s", v.Ref.Short(), v.Entry.Commit.Short())
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
	oid := string(f.tree[recordPath].OID)
	if r.ID != v.ID || r.Session != j.Name {
		v.find(RecordID, oid, fmt.Sprintf("its record is that of %s of session %q", r.ID, r.Session))
	}
	changed := slices.ContainsFunc(f.findings, func(k Finding) bool { return k.Kind == RecordChecksum })
	if e != nil && e.Record != "" && r.Checksum != e.Record && !changed {
		v.find(RecordOther, oid, "its record is whole, and not the one that the journal names")
	}
	if differ := record.Agree(r, f.summary); len(differ) > 0 {
		v.find(TrailerMismatch, string(f.oid), "the message of its commit and its record disagree about "+strings.Join(differ, ", "))
	}
}

// judgeEvent compares what the events say of a checkpoint with its record.
func (j *judging) judgeEvent(v *Verdict, f *facts) {
	e := v.Entry
	if l := e.LastNamed; l != nil && l.Commit != e.Commit {
		v.find(EventConflict, string(l.OID), fmt.Sprintf("two events name it with different commits, %s and %s", e.Commit.Short(), l.Commit.Short()))
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
		{"label", e.Label == r.Label}, {"step", e.Step == r.Step}, {"step name", e.StepName == r.StepName},
		{"iteration", e.Iteration == r.Iteration}, {"milestone", e.Milestone == r.Milestone}, {"trigger", e.Trigger == r.Trigger},
		{"status", e.CheckpointStatus == r.Status}, {"previous", e.Previous == r.Previous}, {"rebuilt_from", e.RebuiltFrom == r.RebuiltFrom},
	} {
		if !m.same {
			differ = append(differ, m.name)
		}
	}
	if len(differ) > 0 {
		v.find(EventMismatch, string(e.OID), "the event that names it and its record disagree about "+strings.Join(differ, ", "))
	}
}

// judgeTags looks at the tags that this checkpoint ought to have, and those that name it
// and should not.
func (j *judging) judgeTags(v *Verdict) {
	for ref, have := range j.odd {
		want := j.derived[ref]
		switch {
		case j.mayLag(ref, have):
		case want == v.Entry.Commit:
			v.find(TagMoved, string(ref), fmt.Sprintf("%s points at %s, not at this checkpoint", ref, have.Short()))
		case want == "" && have == v.Entry.Commit:
			v.find(TagMoved, string(ref), fmt.Sprintf("%s points at it, and it is not the newest live milestone of the step", ref))
		}
	}
}
