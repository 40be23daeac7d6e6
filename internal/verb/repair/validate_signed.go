package repair

// This file adds signatures to validation. git checks them, with its own configuration of trust;
// this program only reports what git says.

import (
	"cmp"
	"context"
	"fmt"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/sys/gather"
)

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
