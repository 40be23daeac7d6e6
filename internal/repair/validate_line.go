package repair

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/proof"
	"git-checkpoint/internal/workflow"
)

// lineage judges the checkpoints of a session in the journal's order: beside what the
// repository proves it asks the workflow, and knows which was the last valid one.
type lineage struct {
	v      *validation
	p      *proof.Session
	known  inspect.Broken
	judged map[name.ID]link
	recent map[name.ID]before
	kept   []name.ID // of recent, the oldest first
	defs   map[string]*workflow.Definition
	signed map[name.OID]git.SignatureState // of the part that is judged
}

// link is what a checkpoint followed, and whether it was found valid.
type link struct {
	previous name.ID
	valid    bool
}

// before is what a rule asks about the checkpoint that another one followed.
type before struct {
	state  []byte
	status string
	live   []int // steps with a milestone in its line, itself included
}

// maxStates is how many states are kept for the checkpoints that follow them.
const maxStates = 64

func newLine(v *validation, p *proof.Session, known inspect.Broken) *lineage {
	return &lineage{
		v: v, p: p, known: known, judged: make(map[name.ID]link, len(p.Refs)), recent: map[name.ID]before{}, defs: map[string]*workflow.Definition{},
	}
}

// judge makes the line of one checkpoint.
func (l *lineage) judge(ctx context.Context, got proof.Verdict) (Validated, error) {
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
	now := link{valid: line.OK}
	switch {
	case got.Entry != nil:
		now.previous = name.ID(strings.Clone(string(got.Entry.Event().Previous))) // the rest of the event goes
	case got.Record != nil:
		now.previous = got.Record.Previous
	default:
		now.previous = l.judged[got.ID].previous
	}
	l.judged[got.ID] = now
	line.LastValid = l.lastValid(got.ID)
	return line, nil
}

// hintAtStandIn says, of what was rebuilt already, that the broken one can go.
func (l *lineage) hintAtStandIn(line *Validated) {
	if len(line.Findings) == 0 || l.p.State == nil {
		return
	}
	for _, e := range l.p.State.Checkpoints() {
		if e.Event().RebuiltFrom != line.Checkpoint || e.Dead || line.Checkpoint == "" {
			continue
		}
		for i := range line.Findings {
			if f := &line.Findings[i]; strings.HasPrefix(string(f.Kind), "record_") || strings.HasPrefix(string(f.Kind), "commit_") {
				f.Hint = fmt.Sprintf("%s stands in for it; `git checkpoint delete %s` drops the broken one", e.Checkpoint, line.Checkpoint)
			}
		}
		return
	}
}

// lastValid is the newest valid one before a checkpoint, of those that were judged.
func (l *lineage) lastValid(id name.ID) name.ID {
	var seen map[name.ID]bool // made when the first is not: a forged line may go in a circle
	for at := l.judged[id].previous; at != "" && !seen[at]; {
		before := l.judged[at]
		if before.valid {
			return at
		}
		if seen == nil {
			seen = map[name.ID]bool{}
		}
		seen[at] = true
		at = before.previous
	}
	return ""
}

// lookBack judges one checkpoint after the other, back from a subject, until one is valid.
func (l *lineage) lookBack(ctx context.Context, from proof.Subject) (name.ID, error) {
	seen := map[name.ID]bool{from.ID: true}
	for at := l.judged[from.ID].previous; at != "" && !seen[at]; at = l.judged[at].previous {
		seen[at] = true
		subject, there := l.p.Subject(at)
		if !there {
			if e := subject.Entry; e != nil { // pruned
				l.judged[at] = link{previous: e.Event().Previous}
			}
			continue
		}
		err := l.p.Judge(ctx, proof.Given(subject), l.v.deep, func(got proof.Verdict) error {
			_, err := l.judge(ctx, got)
			return err
		})
		if err != nil || l.judged[at].valid {
			return at, err
		}
	}
	return "", nil
}

// stillDamaged looks again at objects that a deep look found damaged before: to look at
// a record alone is no reason to forget them.
func (l *lineage) stillDamaged(ctx context.Context, got proof.Verdict) ([]checkpoint.Finding, error) {
	if l.v.deep != nil {
		return nil, nil
	}
	var out []checkpoint.Finding
	var oids []string
	for _, f := range l.known[got.ID] {
		if _, err := name.ParseOID(f.Object); err == nil && f.Kind.IsDeep() && !slices.ContainsFunc(got.Findings, func(g checkpoint.Finding) bool { return g.Object == f.Object }) {
			out, oids = append(out, f), append(oids, f.Object)
		}
	}
	var bad []checkpoint.Finding
	err := l.v.s.Repo.Batch().Prove(ctx, oids, 0, func(i int, _ git.Object, err error) error {
		if err != nil {
			bad = append(bad, out[i])
		}
		return nil
	})
	return bad, err
}

// workflow asks whether the schema and the rules of the workflow still hold.
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
	old, followed := l.recent[r.Previous]
	if def.HasRules() {
		live = l.live(r.Previous)
		here := before{state: r.State, status: r.Status, live: live}
		if r.Milestone && !slices.Contains(live, r.Step) {
			here.live = append(slices.Clone(live), r.Step)
		}
		l.keep(r.ID, here)
	}
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
		change.Old, change.OldStatus = r.State, r.Status // what it followed is not at hand
	}
	if l.p.State != nil {
		change.Started = l.p.State.CreatedAt
		for n := range l.p.State.Skipped {
			change.Skipped = append(change.Skipped, n)
		}
	}
	return violations(def.Check(change), string(got.Parts.Tree.At("checkpoint.json").OID))
}

// live are the steps with a milestone in the line up to a checkpoint.
func (l *lineage) live(id name.ID) []int {
	if b, known := l.recent[id]; known || l.p.State == nil {
		return b.live
	}
	var steps []int
	seen := map[name.ID]bool{}
	for e := l.p.State.Entry(id); e != nil && !seen[e.Checkpoint]; e = l.p.State.Entry(e.Event().Previous) {
		seen[e.Checkpoint] = true
		if e.Milestone && !slices.Contains(steps, e.Step) {
			steps = append(steps, e.Step)
		}
	}
	return steps
}

// violations are the broken rules as findings. What depends on the checkpoints that were
// live at that moment is settled when a checkpoint is made, and not judged again.
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

func (l *lineage) keep(id name.ID, b before) {
	if len(l.kept) >= maxStates {
		delete(l.recent, l.kept[0])
		l.kept = l.kept[1:]
	}
	l.recent[id], l.kept = b, append(l.kept, id)
}

// definition is a workflow, nil where it is not here: then nothing can be held against it.
func (l *lineage) definition(wanted string) *workflow.Definition {
	if wanted == "" {
		return nil
	}
	def, known := l.defs[wanted]
	if !known {
		var err error
		if def, err = l.v.s.Definition(wanted); err != nil {
			l.v.s.Warn(fmt.Sprintf("session %q: workflow %q cannot be asked: %v", l.p.Name, wanted, err))
			def = nil
		}
		l.defs[wanted] = def
	}
	return def
}
