package repair

// This file turns a verdict of package proof into a line of `validate`. Package proof does not deal
// with workflows, so the rules of the workflow and the position in the session are added here.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/inspect"
)

// lineage judges the checkpoints of one session in the journal's order. To what package proof finds
// it adds violations of the workflow, signatures, and the last valid checkpoint before each. It
// keeps memory small, because a session may have a hundred thousand checkpoints: it keeps a link
// for each, and the state of the last maxStates.
type lineage struct {
	v      *validation
	p      *proof.Session
	known  inspect.Broken                  // what earlier validations found broken
	judged map[name.ID]link                // all judged so far
	recent map[name.ID]before              // the last ones with a workflow that has rules
	kept   []name.ID                       // the ids in recent, oldest first
	defs   map[string]*workflow.Definition // by name; nil: cannot be read
	signed map[name.OID]git.SignatureState // signatures of the batch being judged
}

// link says what a checkpoint followed and whether it is valid.
type link struct {
	previous name.ID
	valid    bool
}

// before is what the rules need to know about the checkpoint that another one followed.
type before struct {
	state  []byte
	status string
	live   []int // steps with a milestone up to here, along Previous
}

// newLine returns a lineage that has judged nothing yet.
func newLine(v *validation, p *proof.Session, known inspect.Broken) *lineage {
	return &lineage{
		v: v, p: p, known: known, judged: make(map[name.ID]link, len(p.Refs)), recent: map[name.ID]before{}, defs: map[string]*workflow.Definition{},
	}
}

// validate returns the line of one checkpoint. Checkpoints must come in the journal's order for
// LastValid to be complete.
func (l *lineage) validate(ctx context.Context, got proof.Verdict) (Validated, error) {
	line := Validated{Checkpoint: got.ID, Label: got.Label, Session: l.p.Name, Findings: slices.Clone(got.Findings)}
	still, err := l.stillDamaged(ctx, got)
	if err != nil {
		return line, err
	}
	line.Findings = append(line.Findings, still...)
	line.Findings = append(line.Findings, l.workflow(got)...)
	if err := l.signature(ctx, got, &line); err != nil {
		return line, err
	}
	l.hintAtStandIn(&line)
	line.OK, line.Restorable = len(line.Findings) == 0, got.Sound && proof.Restorable(still)
	if line.Findings == nil {
		line.Findings = []checkpoint.Finding{}
	}
	// What a checkpoint followed is taken from the journal, else from its record.
	now := link{valid: line.OK}
	switch {
	case got.Entry != nil:
		now.previous = name.ID(strings.Clone(string(got.Entry.Event().Previous))) // a copy, so that the event's memory can be freed
	case got.Record != nil:
		now.previous = got.Record.Previous
	default:
		now.previous = l.judged[got.ID].previous
	}
	l.judged[got.ID] = now
	line.LastValid = l.lastValid(got.ID)
	return line, nil
}

// note adds the findings of a line to the list of broken checkpoints. Missing signatures are not
// damage: they were findings only because this validation required them.
func note(b inspect.Broken, v Validated) {
	for _, f := range v.Findings {
		if f.Kind != proof.Unsigned && f.Kind != proof.SignatureUnchecked {
			b[v.Checkpoint] = append(b[v.Checkpoint], f)
		}
	}
}

// hintAtStandIn changes the hints of a checkpoint that was rebuilt: the broken one can be deleted.
func (l *lineage) hintAtStandIn(line *Validated) {
	if len(line.Findings) == 0 || line.Checkpoint == "" {
		return
	}
	e := standInOf(l.p.State, line.Checkpoint)
	// What its ref leads to can still be read.
	moved := slices.ContainsFunc(line.Findings, func(f checkpoint.Finding) bool { return f.Kind == proof.RefMoved })
	if e != nil {
		line.StandIn = e.Checkpoint
	}
	for i := range line.Findings {
		if f := &line.Findings[i]; e != nil && !moved && (strings.HasPrefix(string(f.Kind), "record_") || strings.HasPrefix(string(f.Kind), "commit_")) {
			f.Hint = fmt.Sprintf("%s replaces it; `git checkpoint delete %s` removes the broken one", e.Checkpoint, line.Checkpoint)
		}
	}
}

// standInOf returns the checkpoint that was rebuilt from a broken one, or nil. st may be nil, and
// broken may be "", for the session as a whole.
func standInOf(st *journal.State, broken name.ID) *journal.Entry {
	if st == nil || broken == "" {
		return nil
	}
	for _, e := range st.Checkpoints() {
		if e.Event().RebuiltFrom == broken && !e.Dead {
			return e
		}
	}
	return nil
}

// lastValid returns the newest valid checkpoint before id, among those that were judged.
func (l *lineage) lastValid(id name.ID) name.ID {
	seen := map[name.ID]bool{} // a forged journal may have a cycle
	// Follow Previous, not the order of the journal: a checkpoint of another branch of work does
	// not help.
	for at := l.judged[id].previous; at != "" && !seen[at]; at = l.judged[at].previous {
		if l.judged[at].valid {
			return at
		}
		seen[at] = true
	}
	return ""
}

// lookBack judges the checkpoints before a subject, one by one, until one is valid. It returns that
// one's id.
func (l *lineage) lookBack(ctx context.Context, from proof.Subject) (name.ID, error) {
	seen := map[name.ID]bool{from.ID: true}
	for at := l.judged[from.ID].previous; at != "" && !seen[at]; at = l.judged[at].previous {
		seen[at] = true
		subject, there := l.p.Subject(at)
		if !there {
			// There is nothing to judge, but the journal still says what it followed.
			if e := subject.Entry; e != nil { // pruned
				l.judged[at] = link{previous: e.Event().Previous}
			}
			continue
		}
		err := l.p.Judge(ctx, proof.Given(subject), l.v.deep, func(got proof.Verdict) error {
			_, err := l.validate(ctx, got)
			return err
		})
		if err != nil || l.judged[at].valid {
			return at, err
		}
	}
	return "", nil
}

// stillDamaged checks the objects again that an earlier deep validation found damaged. A validation
// that reads only records would not see them, and must not report the checkpoint as whole.
func (l *lineage) stillDamaged(ctx context.Context, got proof.Verdict) ([]checkpoint.Finding, error) {
	if l.v.deep != nil {
		return nil, nil
	}
	var out []checkpoint.Finding
	var oids []name.OID
	for _, f := range l.known[got.ID] {
		if oid, err := name.ParseOID(f.Object); err == nil && f.Kind.IsDeep() && !slices.ContainsFunc(got.Findings, func(g checkpoint.Finding) bool { return g.Object == f.Object }) {
			out, oids = append(out, f), append(oids, oid)
		}
	}
	bad, err := damaged(ctx, l.v.s.Repo, oids)
	return slices.DeleteFunc(out, func(f checkpoint.Finding) bool { return !bad[name.OID(f.Object)] }), err
}

// workflow checks the record against the workflow's schema and rules as they are now.
func (l *lineage) workflow(got proof.Verdict) []checkpoint.Finding {
	r := got.Record
	if r == nil || r.ID != got.ID {
		return nil
	}
	def := l.definition(r.Workflow.Name)
	if def == nil {
		return nil
	}
	var live []int
	// The checkpoint before was judged shortly before, unless rollbacks made the line jump.
	old, followed := l.recent[r.Previous]
	if def.HasRules() {
		live = l.live(r.Previous)
		// Remember this checkpoint for those that follow it.
		here := before{state: r.State, status: r.Status, live: live}
		if r.Milestone && !slices.Contains(live, r.Step) {
			here.live = append(slices.Clone(live), r.Step)
		}
		l.rememberState(r.ID, here)
	}
	// Safety and rebuilt checkpoints were never subject to the rules.
	if r.Trigger == workflow.TriggerSafety || r.RebuiltFrom != "" {
		return nil
	}
	change := workflow.Change{
		New: r.State, NewStatus: r.Status, Trigger: r.Trigger, Session: string(r.Session), Now: r.CreatedAt, Started: r.CreatedAt, Live: live,
		Place: workflow.Place{Step: r.Step, Name: r.StepName, Iteration: r.Iteration, Milestone: r.Milestone},
	}
	if followed {
		change.Old, change.OldStatus = old.state, old.status
	} else if r.Previous != "" {
		change.Old, change.OldStatus = r.State, r.Status // unknown; with the same state no rule about changes applies
	}
	if l.p.State != nil {
		change.Started = l.p.State.CreatedAt
		for n := range l.p.State.Skipped {
			change.Skipped = append(change.Skipped, n)
		}
	}
	return violations(def.Check(change), string(got.Parts.Tree.At("checkpoint.json").OID))
}

// live returns the steps with a milestone in the line up to a checkpoint.
func (l *lineage) live(id name.ID) []int {
	// The steps of the checkpoint before are known if it was judged recently. Otherwise walk the
	// whole line.
	if b, known := l.recent[id]; known || l.p.State == nil {
		return b.live
	}
	var steps []int
	for e := range l.p.State.LineTo(l.p.State.Entry(id)) {
		if e.Milestone && !slices.Contains(steps, e.Step) {
			steps = append(steps, e.Step)
		}
	}
	return steps
}

// violations converts broken rules to findings. Rules about the order of steps depend on which
// checkpoints were live at that moment. They are checked when a checkpoint is made, and not again.
func violations(broken []workflow.Violation, object string) []checkpoint.Finding {
	var out []checkpoint.Finding
	for _, b := range broken {
		switch b.Rule {
		case "step_order", "transition":
			continue
		case "schema", "state":
			out = append(out, proof.Violated(proof.SchemaViolation, object, b.String()))
		default:
			out = append(out, proof.Violated(proof.RuleViolation, object, b.String()))
		}
	}
	return out
}

// rememberState remembers the state of a checkpoint, and forgets the oldest one if there are too many.
func (l *lineage) rememberState(id name.ID, b before) {
	const maxStates = 64 // how many states are kept for the checkpoints that follow them
	if len(l.kept) >= maxStates {
		delete(l.recent, l.kept[0])
		l.kept = l.kept[1:]
	}
	l.recent[id], l.kept = b, append(l.kept, id)
}

// definition returns a workflow by its name, or nil if it cannot be read here: then no rule can be
// checked. It warns once.
func (l *lineage) definition(wanted string) *workflow.Definition {
	if wanted == "" {
		return nil
	}
	def, known := l.defs[wanted]
	if !known {
		var err error
		if def, err = l.v.s.Rules.Definition(wanted); err != nil {
			l.v.s.Store.Warn(fmt.Sprintf("session %q: workflow %q cannot be asked: %v", l.p.Name, wanted, err))
			def = nil
		}
		l.defs[wanted] = def
	}
	return def
}

// git checks the signatures, with its own configuration of trust; this program only reports what git says.

// statusOfSignature translates the letter of git's %G? to a word.
func statusOfSignature(code byte) string {
	words := map[byte]string{'G': "good", 'U': "untrusted", 'B': "bad", 'X': "expired", 'Y': "expired_key", 'R': "revoked"}
	return cmp.Or(words[code], "unchecked")
}

// readSignatures asks git for the signatures of a batch of checkpoints. One git process for each
// checkpoint would take most of the time of a validation.
func (l *lineage) readSignatures(ctx context.Context, some []proof.Verdict) (err error) {
	commits := gather.List(gather.Those(some, func(v proof.Verdict) bool { return v.Parts.Signed }), func(v proof.Verdict) name.OID { return v.Parts.Commit.OID })
	l.signed, err = l.v.s.Repo.Commits.Signatures(ctx, commits)
	return err
}

// signature adds the signature of a checkpoint commit to its line, and a finding if the signature
// is bad, or is missing where one is required.
func (l *lineage) signature(ctx context.Context, got proof.Verdict, line *Validated) error {
	commit := got.Parts.Commit.OID
	required := l.v.req.RequireSigned
	if commit == "" || !got.Parts.Signed && !required {
		return nil
	}
	if !got.Parts.Signed {
		line.Findings = append(line.Findings, proof.Violated(proof.Unsigned, string(commit), "its commit is not signed"))
		return nil
	}
	// lookBack judges single checkpoints, which are in no batch.
	state, read := l.signed[commit]
	if !read {
		if err := l.readSignatures(ctx, []proof.Verdict{got}); err != nil {
			return err
		}
		state = l.signed[commit]
	}
	line.Signature = &Signature{Status: statusOfSignature(state.Code), Signer: state.Signer, Key: state.Key, Trust: state.Trust}
	if f, bad := badSignature(state, commit, "its commit", required); bad {
		line.Findings = append(line.Findings, f)
	}
	return nil
}

// badSignature judges an existing signature. A signature of other content is always damage. One
// that cannot be checked or is not trusted here is a finding only if signatures are required.
func badSignature(state git.SignatureState, commit name.OID, what string, required bool) (checkpoint.Finding, bool) {
	switch status := statusOfSignature(state.Code); status {
	case "good":
		return checkpoint.Finding{}, false
	case "bad":
		return proof.Violated(proof.SignatureBad, string(commit), "the signature of "+what+" is not of this content"), true
	case "unchecked":
		return proof.Violated(proof.SignatureUnchecked, string(commit), "the signature of "+what+" cannot be checked here: its key is not known"), required
	default:
		return proof.Violated(proof.SignatureBad, string(commit), fmt.Sprintf("the signature of %s is %s", what, status)), required
	}
}

// unsignedEvents returns a finding for the first event of a session without a good signature, and
// counts the others. Merge commits of the journal are never signed: two clones must create
// identical ones, and they carry no data.
func unsignedEvents(ctx context.Context, repo *git.Repo, p *proof.Session) ([]checkpoint.Finding, error) {
	if p.State == nil {
		return nil, nil
	}
	var found []checkpoint.Finding
	failed := 0
	oids := gather.List(p.State.Events(), func(e *journal.Event) name.OID { return e.OID })
	states, err := repo.Commits.Signatures(ctx, oids)
	if err != nil {
		return nil, err
	}
	for _, e := range p.State.Events() {
		f, bad := badSignature(states[e.OID], e.OID, fmt.Sprintf("event %s (%s)", e.OID.Short(), e.Kind), true)
		// N means that there is no signature.
		if states[e.OID].Code == 'N' {
			f, bad = proof.Violated(proof.Unsigned, string(e.OID), fmt.Sprintf("event %s (%s) is not signed", e.OID.Short(), e.Kind)), true
		}
		if bad {
			// One finding is enough for a session that was never signed.
			if failed++; len(found) == 0 {
				found = append(found, f)
			}
		}
	}
	if failed > 1 {
		found[0].Message += fmt.Sprintf(", as are %d more", failed-1)
	}
	return found, nil
}
