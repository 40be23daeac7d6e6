package transfer

import (
	"strings"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/store"
	"git-checkpoint/internal/workflow"
)

// ledger is the session while an import adds to it: what the fold would say after each
// event.
type ledger struct {
	entries   []ledgerEntry
	current   int // -1: none
	digests   map[string]string
	byKey     map[string]int // the newest
	rollbacks map[string]bool
}

type ledgerEntry struct {
	id        name.ID
	key       string
	label     string
	step      int
	stepName  string
	iteration string
	milestone bool
	live      bool
	tree      name.OID
}

// newLedger begins with the session as it is. known are documents that the session's own
// checkpoints would be written as.
func newLedger(st *journal.State, known map[string]KnownDocument) *ledger {
	l := &ledger{current: -1, digests: map[string]string{}, byKey: map[string]int{}, rollbacks: map[string]bool{}}
	if st == nil {
		return l
	}
	keys := map[name.ID]string{}
	for key, k := range known {
		keys[k.ID], l.digests[key] = key, k.Digest
	}
	current := -1
	for _, e := range st.Checkpoints() {
		if e.Dead || e.Safety {
			continue
		}
		key := checkpoint.Trailer(e.Event(), checkpoint.TrailerKey)
		if digest := checkpoint.Trailer(e.Event(), checkpoint.TrailerDigest); digest != "" {
			l.digests[key] = digest
		} else {
			key = keys[e.Checkpoint]
		}
		l.add(ledgerEntry{
			id: e.Checkpoint, key: key, label: e.Label, step: e.Step, stepName: e.Event().StepName, iteration: e.Event().Iteration,
			milestone: e.Milestone, live: e.Live,
		})
		if e.Checkpoint == st.Current {
			current = len(l.entries) - 1
		}
	}
	l.current = current
	for _, r := range st.Rollbacks {
		l.rollbacks[rollbackKey(r.FromLabel, r.ToLabel, r.Time, r.Reason)] = true
	}
	return l
}

func rollbackKey(from, to string, at time.Time, reason string) string {
	return strings.Join([]string{from, to, at.UTC().Format(time.RFC3339), reason}, "\x00")
}

// add appends a live checkpoint, which becomes current.
func (l *ledger) add(e ledgerEntry) {
	l.entries = append(l.entries, e)
	l.byKey[e.key] = len(l.entries) - 1
	l.current = len(l.entries) - 1
}

// find is the checkpoint that a rollback names, by key or label; -1: none.
func (l *ledger) find(called string) int {
	if i, ok := l.byKey[called]; ok {
		return i
	}
	for i := len(l.entries) - 1; i >= 0; i-- {
		if l.entries[i].label == called {
			return i
		}
	}
	return -1
}

// place asks for the step of a new checkpoint as `create` would.
func (l *ledger) place(st *journal.State, req *workflow.PlaceRequest) {
	req.Milestones = func(step int) (iterations []string, named string) {
		for _, e := range l.entries {
			if e.live && e.milestone && e.step == step {
				iterations, named = append(iterations, e.iteration), e.stepName
			}
		}
		return iterations, named
	}
	if l.current >= 0 {
		n := l.entries[l.current].step
		req.Last = &n
	}
	if st != nil {
		for n := range st.Skipped {
			req.Skipped = append(req.Skipped, n)
		}
	}
}

// planned is one step of an import that adds something.
type planned struct {
	step     int // of the session's
	document *ImportDocument
	rollback *ImportRollback
	record   *record.Record
	entry    int // in the ledger
	target   int
	discard  []int
}

// plan decides what each document and rollback comes to.
func (im *importing) plan(v store.View) []planned {
	im.ledger, im.told = newLedger(v.State, im.in.Known), nil
	var out []planned
	for i := range im.in.Steps {
		d, r := im.in.Steps[i].Document, im.in.Steps[i].Rollback
		if r != nil {
			if p, ok := im.planRollback(i, r); ok {
				out = append(out, p)
			}
			continue
		}
		told := Imported{Session: im.session, Key: d.Key, Path: d.Path, Action: ImportAdded, At: checkpoint.Time{Time: d.At}, Commit: im.links.commits[d.Commit]}
		had := im.ledger.digests[d.Key]
		if had == im.digests[i] {
			told.Action = ImportUnchanged
			if at := im.ledger.find(d.Key); at >= 0 {
				e := im.ledger.entries[at]
				told.ID, told.Label, told.Step = e.id, e.label, e.step
			}
			im.told = append(im.told, told)
			continue
		}
		if had != "" {
			told.Action = ImportChanged
		}
		rec := im.compose(v, d)
		im.ledger.add(ledgerEntry{
			key: d.Key, label: rec.Label, step: rec.Step, stepName: rec.StepName, iteration: rec.Iteration,
			milestone: rec.Milestone, live: true, tree: rec.Snapshot.Tree,
		})
		im.ledger.digests[d.Key] = im.digests[i]
		told.Label, told.Step = rec.Label, rec.Step
		im.told = append(im.told, told)
		out = append(out, planned{step: i, document: d, record: rec, entry: len(im.ledger.entries) - 1})
	}
	return append(out, im.settle(len(out) > 0)...)
}

// planRollback finds what a rollback went to and what that discarded; one to a
// checkpoint that is not there stays with the files that are kept.
func (im *importing) planRollback(step int, r *ImportRollback) (planned, bool) {
	to := im.ledger.find(r.To)
	key := rollbackKey(r.From, r.To, r.At, r.Reason)
	if to < 0 || im.ledger.rollbacks[key] {
		return planned{}, false
	}
	im.ledger.rollbacks[key] = true
	p := planned{step: step, rollback: r, target: to}
	for i := to + 1; i < len(im.ledger.entries); i++ {
		if im.ledger.entries[i].live {
			im.ledger.entries[i].live = false
			p.discard = append(p.discard, i)
		}
	}
	im.ledger.entries[to].live = true
	im.ledger.current = to
	return p, true
}

// settle makes that checkpoint current which is so in the layout.
func (im *importing) settle(changed bool) []planned {
	if im.in.Current == "" || !changed {
		return nil
	}
	to := im.ledger.find(im.in.Current)
	if to < 0 || to == im.ledger.current {
		return nil
	}
	im.ledger.entries[to].live = true
	im.ledger.current = to
	return []planned{{step: -1, target: to}}
}
