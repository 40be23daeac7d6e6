package repair

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/proof"
)

// Verified is what `history --verify` answers.
type Verified struct {
	Session name.Session        `json:"session"`
	OK      bool                `json:"ok"`
	Since   name.OID            `json:"since"` // the commit that was given; empty: from the beginning
	Tip     name.OID            `json:"tip"`   // to be kept elsewhere, for the next time
	Events  int                 `json:"events"`
	Break   *checkpoint.Finding `json:"break"` // the first one; null when the chain is whole
}

// VerifyHistory proves that the journal is a whole chain: every commit has the id that its
// content gives, is an event that fits those before it, and a commit that was kept
// elsewhere, given by at least seven of its digits, is part of it.
func VerifyHistory(ctx context.Context, s *checkpoint.Service, request, since string) (*Verified, error) {
	session, err := s.ChooseSession(ctx, request)
	if err != nil {
		return nil, err
	}
	p, err := OpenProof(ctx, s, session, nil)
	if err != nil {
		return nil, checkpoint.Classify(err)
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
	found := slices.DeleteFunc(slices.Clone(p.Findings), func(f checkpoint.Finding) bool { return f.Kind == proof.TagMoved })
	if v.Since != "" && (p.Chain == nil || !p.Chain.Has(v.Since)) {
		found = append([]checkpoint.Finding{proof.Violated(proof.JournalReplaced, string(v.Since),
			fmt.Sprintf("the journal does not hold %s: it was set back or replaced since", v.Since))}, found...)
	}
	if v.OK = len(found) == 0; !v.OK {
		v.Break = &found[0]
	}
	return v, nil
}

// sinceCommit takes a whole id, or the beginning of one that the journal has.
func sinceCommit(p *proof.Session, since string) (name.OID, error) {
	if oid, err := name.ParseOID(since); err == nil {
		return oid, nil
	}
	if !checkpoint.HexPattern().MatchString(since) || len(since) < 7 {
		return "", checkpoint.Usage("`git rev-parse refs/checkpoints/"+string(p.Name)+"/journal` gives the one of today", "%q is no id of a commit", since)
	}
	if p.Chain != nil {
		if oid, found := p.Chain.Starting(since); found {
			return oid, nil
		}
	}
	return name.OID(since), nil
}
