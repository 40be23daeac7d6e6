package repair

// This file proves the history of a session: `history --verify`. A journal cannot be changed
// without changing the id of its newest commit, so whoever keeps that id can detect any rewrite.

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/proof"
)

// Verified is what `history --verify` prints.
type Verified struct {
	Session name.Session        `json:"session"`
	OK      bool                `json:"ok"`     // the chain is whole
	Since   name.OID            `json:"since"`  // the commit that the caller kept; empty: check from the beginning
	Tip     name.OID            `json:"tip"`    // the newest commit; to be kept elsewhere for the next time
	Events  int                 `json:"events"` // how many events there are
	Break   *checkpoint.Finding `json:"break"`  // the first problem; null: the chain is whole
}

// VerifyHistory proves the journal of a session: every commit has the id that its content gives,
// each is an event that fits those before it, and the commit since, if given, is part of the chain.
// In this way somebody who keeps the tip elsewhere can prove that nobody rewrote the history. since
// is a whole id or at least seven digits.
func VerifyHistory(ctx context.Context, s *checkpoint.Sessions, request, since string) (*Verified, error) {
	session, err := s.ChooseSession(ctx, request)
	if err != nil {
		return nil, err
	}
	// Opening the proof reads and hashes every commit of the journal.
	p, err := OpenProof(ctx, s.Store, session, nil)
	if err != nil {
		return nil, err
	}
	v := &Verified{Session: session}
	if since != "" {
		if v.Since, err = sinceCommit(p, since); err != nil {
			return nil, err
		}
	}
	if p.Chain != nil {
		v.Tip = p.Chain.Tip
	}
	if p.State != nil {
		v.Events = p.State.Count()
	}
	// Tags are derived and prove nothing about the history.
	found := slices.DeleteFunc(slices.Clone(p.Findings), func(f checkpoint.Finding) bool { return f.Kind == proof.TagMoved })
	// Put first, because it says more than a finding of this worktree: the caller kept the id
	// itself.
	if v.Since != "" && (p.Chain == nil || !p.Chain.Has(v.Since)) {
		found = append([]checkpoint.Finding{proof.Violated(proof.JournalReplaced, string(v.Since),
			fmt.Sprintf("the journal does not hold %s: it was set back or replaced since", v.Since))}, found...)
	}
	if v.OK = len(found) == 0; !v.OK {
		v.Break = &found[0]
	}
	return v, nil
}

// sinceCommit completes a commit id. A whole id need not exist: then the journal was replaced,
// which is what VerifyHistory reports.
func sinceCommit(p *proof.Session, since string) (name.OID, error) {
	if oid, err := name.ParseOID(since); err == nil {
		return oid, nil
	}
	if !checkpoint.HexPattern().MatchString(since) || len(since) < 7 {
		return "", checkpoint.Usage("`git rev-parse refs/checkpoints/"+string(p.Name)+"/journal` prints the current tip", "%q is not a commit id", since)
	}
	if p.Chain != nil {
		if oid, found := p.Chain.Starting(since); found {
			return oid, nil
		}
	}
	return name.OID(since), nil
}
