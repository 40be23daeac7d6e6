package clearance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/guard"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

// Sending is what is about to leave this repository.
type Sending struct {
	To        string // as it is told
	Tips      []name.OID
	Held      []name.OID             // what the other side has
	Labels    []Holder               // oldest first, to say which one holds a finding
	Within    func(path string) bool // what of it is written; nil: all
	Unscanned Unscanned
	// Destination is the remote that it goes to; nil: it goes into files.
	Destination *Destination
}

// Holder is a checkpoint, which may hold a finding.
type Holder struct {
	Commit name.OID
	Label  string
}

// Unscanned says whether what nobody could look at may go all the same.
type Unscanned int

// The choices.
const (
	UnscannedStays Unscanned = iota
	UnscannedGoes
)

// MayLeave is what everything that leaves this repository passes: push, sync, the push in
// the background, every export and every mirror. It refuses what holds a secret that
// nobody allowed, what could not be looked at, and untracked files for a remote that
// nobody agreed to.
func MayLeave(ctx context.Context, s *checkpoint.Service, what Sending) error {
	if err := holdsNoSecret(ctx, s, what); err != nil {
		return err
	}
	return consent(ctx, s, what)
}

// holdsNoSecret has the guard look at what is sent, unless it is off.
func holdsNoSecret(ctx context.Context, s *checkpoint.Service, what Sending) error {
	how, err := modeOf(s)
	if err != nil {
		return err
	}
	desk, err := desk(ctx, s)
	if err != nil {
		return err
	}
	if how == modeOff { // what was expunged stays here all the same
		return desk.refuseExpunged(ctx, s, what)
	}
	report, err := desk.Sent(ctx, what.Tips, what.Held)
	if closeErr := desk.Close(); closeErr != nil {
		s.Warn(closeErr.Error()) // it is looked at again the next time
	}
	if err != nil {
		return refusedByScanner(err, "nothing was sent")
	}
	if what.Within != nil {
		report.Found = slices.DeleteFunc(report.Found, func(f Found) bool { return f.Path != "" && !what.Within(f.Path) })
		report.Gaps = slices.DeleteFunc(report.Gaps, func(g Gap) bool { return g.Path != "" && !what.Within(g.Path) })
	}
	if stopped := report.Stopped(); len(stopped) > 0 {
		return stop(ctx, s, what, stopped)
	}
	if len(report.Gaps) > 0 && what.Unscanned == UnscannedStays {
		refused := &checkpoint.Error{Kind: checkpoint.KindRefused, Message: fmt.Sprintf("%d objects for %s could not be looked through for secrets; nothing was sent", len(report.Gaps), what.To)}
		for _, g := range report.Gaps {
			refused.Hints = append(refused.Hints, fmt.Sprintf("%s: %s", cmp.Or(g.Path, "the message of "+g.OID.Short()), g.Why))
		}
		refused.Hints = append(refused.Hints, "--yes (-y) sends them")
		return refused
	}
	return nil
}

// refuseExpunged is what is left of the gate where the guard is off.
func (d *Desk) refuseExpunged(ctx context.Context, s *checkpoint.Service, what Sending) error {
	if len(d.expunged.Objects) == 0 {
		return nil
	}
	objects, err := d.list(ctx, what.Tips, what.Held)
	if err != nil {
		return checkpoint.Classify(err)
	}
	var stopped []Found
	for _, one := range objects {
		if d.expunged.Objects[one.oid] && (what.Within == nil || one.path == "" || what.Within(one.path)) {
			stopped = append(stopped, Found{OID: one.oid, Path: one.path, Finding: guard.Finding{Rule: RuleExpunged}})
		}
	}
	if len(stopped) == 0 {
		return nil
	}
	return stop(ctx, s, what, stopped)
}

// stop is the refusal: what is where, and what can be done.
func stop(ctx context.Context, s *checkpoint.Service, what Sending, stopped []Found) error {
	slices.SortStableFunc(stopped, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	refused := &checkpoint.Error{Kind: checkpoint.KindRefused, Message: fmt.Sprintf("%s would go to %s; nothing was sent", countSecrets(len(stopped)), what.To)}
	for _, f := range stopped {
		if f.Rule == RuleExpunged {
			refused.Hints = append(refused.Hints, fmt.Sprintf("%s was expunged, and is in %s again", cmp.Or(inOneLine(f.Path), "commit "+f.OID.Short()), holder(ctx, s, f, what.Labels)))
			continue
		}
		refused.Hints = append(refused.Hints, fmt.Sprintf("%s looks like %s (%s), in %s", placeOf(f), whatIs(f.Rule), f.Rule, holder(ctx, s, f, what.Labels)))
	}
	refused.Hints = append(append(refused.Hints, suggestions(s, stopped)...), waysOut(stopped)...)
	return refused
}

// waysOut are commands that can be pasted.
func waysOut(stopped []Found) []string {
	var hints []string
	allowed, excluded := map[string]bool{}, map[string]bool{}
	for _, f := range stopped {
		if f.Rule == RuleExpunged {
			hints = append(hints, "take it out again: git checkpoint expunge "+shellQuote(cmp.Or(f.Path, string(f.OID))))
			continue
		}
		target := f.Path
		if target == "" || strings.Contains(f.Path, "\n") {
			target = string(f.OID)
		}
		if target != "" && !allowed[target] {
			allowed[target] = true
			hints = append(hints, "it is no secret, or may go: git checkpoint guard allow "+shellQuote(target)+" --reason TEXT")
		}
		if f.Path != "" && !excluded[f.Path] {
			excluded[f.Path] = true
			hints = append(hints, "leave the file out from now on: git config --add checkpoint.exclude "+shellQuote(f.Path))
		}
	}
	return append(hints, "drop a checkpoint that holds one: git checkpoint delete REF")
}

// maxHolders bounds how many checkpoints are searched for the one that holds a finding.
const maxHolders = 1000

// holder says which checkpoint an object is in.
func holder(ctx context.Context, s *checkpoint.Service, f Found, labels []Holder) string {
	for _, l := range labels[:min(len(labels), maxHolders)] {
		commit, label := l.Commit, l.Label
		record, err := s.Store.RecordCommit(ctx, commit)
		if err != nil {
			continue
		}
		if f.Path == "" && (f.OID == commit || f.OID == record) {
			return label
		}
		for _, oid := range []name.OID{commit, record} {
			c, err := s.Repo.ReadCommit(ctx, string(oid))
			if err != nil {
				continue
			}
			if e, found, err := s.Repo.Lookup(ctx, c.Tree, f.Path); err == nil && found && e.OID == f.OID {
				return label
			}
		}
	}
	if f.Path == "" {
		return "a message"
	}
	return "commits below the checkpoints"
}

// Holders are the checkpoints of a session by their commits.
func Holders(log *journal.Log) (out []Holder) {
	if log == nil {
		return nil
	}
	for _, e := range log.Events() {
		if e.Commit != "" && e.Checkpoint != "" {
			out = append(out, Holder{e.Commit, cmp.Or(e.Label, string(e.Checkpoint))})
		}
	}
	return out
}
