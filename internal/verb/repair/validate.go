// Package repair finds damage and repairs what can be repaired. It has one function for each
// command:
//
//   - Validate proves checkpoints (package proof) and checks the rules of their workflow.
//   - VerifyHistory proves the journal alone.
//   - Rebuild regenerates what is derived from other data: notes, tags, refs, events, and a record
//     commit whose record survives in a note. Where a record or commit is lost, it makes a second
//     checkpoint beside the broken one from what is left.
//   - Doctor looks for everything else that gets in the way: stale locks, temporary files, settings,
//     stray refs.
//
// Nothing here changes a file of the worktree, a branch or a setting. Start reading with Validate,
// then rebuilding.run.
package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/inspect"
)

// ValidateRequest is the input of Validate. It reads records, commits and the trees of record
// commits, and reports the signatures that exist.
type ValidateRequest struct {
	Ref           string            // one checkpoint; empty: whole sessions
	Session       string            // empty: the active or newest one
	All           bool              // all sessions
	Deep          bool              // read also every object that they reach, each once
	RequireSigned bool              // a missing or untrusted signature is a finding
	Read          func(objects int) // is called with the number of objects read so far; may be nil
}

// Validated is one line of `validate`. It is about a checkpoint, or, with an empty id, about a
// session as a whole: its journal, notes and tags.
type Validated struct {
	Checkpoint name.ID              `json:"checkpoint"`
	Label      string               `json:"label"`
	Session    name.Session         `json:"session"`
	OK         bool                 `json:"ok"`         // there are no findings
	Restorable bool                 `json:"restorable"` // its files can be restored in spite of the findings
	Findings   []checkpoint.Finding `json:"findings"`
	LastValid  name.ID              `json:"last_valid"` // the newest valid checkpoint before it, along Previous

	Signature *Signature `json:"signature"` // null: it has none

	StandIn name.ID `json:"-"` // the checkpoint that a rebuild made of it; empty: none
}

// Signature is what git says about the signature of a checkpoint commit.
type Signature struct {
	Status string `json:"status"` // good, untrusted, bad, expired, expired_key, revoked, unchecked
	Signer string `json:"signer"`
	Key    string `json:"key"`
	Trust  string `json:"trust"`
}

// validation is one run of Validate.
type validation struct {
	s    *checkpoint.Sessions
	req  ValidateRequest
	deep *proof.Deep // nil unless the request is Deep
	each func(Validated) error
}

// Validate checks checkpoints and calls each with every line as soon as it is known. It changes
// nothing except this worktree's list of broken checkpoints, which `list` shows, and the notes that a plain
// fetch left out. It returns an error only if it cannot go on; damage is reported in lines.
func Validate(ctx context.Context, s *checkpoint.Sessions, req ValidateRequest, each func(Validated) error) error {
	v := &validation{s: s, req: req, each: each}
	if s.Repo.Commits.IsShallow() {
		v.each = func(line Validated) error { return each(line.shallow()) }
	}
	if req.Deep {
		read := req.Read
		if read == nil {
			read = func(int) {}
		}
		v.deep = proof.NewDeep(s.Store, read)
	}
	if req.Ref != "" {
		return v.one(ctx)
	}
	sessions, view, err := provable(ctx, s, req.Session, req.All)
	if err != nil {
		return err
	}
	for _, session := range sessions {
		if err := v.session(ctx, session, view); err != nil {
			return err
		}
	}
	return nil
}

// shallow gives commits that may be missing only because the clone is shallow a different hint from
// that for lost ones.
func (line Validated) shallow() Validated {
	for i := range line.Findings {
		switch f := &line.Findings[i]; f.Kind {
		case proof.JournalMissing, proof.RecordCommitMissing, proof.HeadMissing:
			f.Hint = "the clone is shallow: " + checkpoint.UnshallowHint
		}
	}
	return line
}

// provable returns the sessions to check: the requested one, or with all every session, including
// those whose journal is gone but that this worktree remembers. The view covers all of them; it is
// nil for one session.
func provable(ctx context.Context, s *checkpoint.Sessions, wanted string, all bool) ([]name.Session, *proof.View, error) {
	// Sessions that this worktree has seen, with or without refs now.
	gone, err := s.Store.Remembered()
	if err != nil {
		return nil, nil, err
	}
	// A cache file of another version cannot be read. It is no proof that there was a journal.
	unseen := func(session name.Session) bool { return len(s.Store.Seen(session)) == 0 }
	if !all {
		session, err := s.ChooseSession(ctx, wanted)
		if checkpoint.KindOf(err) == checkpoint.KindNotFound && wanted == "" {
			return slices.DeleteFunc(gone, unseen), nil, nil
		}
		return []name.Session{session}, nil, err
	}
	view, err := proof.ReadView(ctx, s.Store, "")
	if err != nil {
		return nil, nil, err
	}
	// A session whose refs were all deleted is not in the view. If this worktree saw its journal,
	// that loss is a finding.
	there := view.Sessions()
	gone = slices.DeleteFunc(gone, func(session name.Session) bool { return slices.Contains(there, session) || unseen(session) })
	sessions := append(there, gone...)
	slices.Sort(sessions)
	return sessions, view, nil
}

// session checks all checkpoints of one session.
func (v *validation) session(ctx context.Context, session name.Session, view *proof.View) error {
	p, err := openCompleted(ctx, v.s.Store, session, view)
	if err != nil {
		return err
	}
	findings := append(slices.Clone(p.Notes.Findings), p.Findings...)
	if v.req.RequireSigned {
		more, err := unsignedEvents(ctx, v.s.Repo, p)
		if err != nil {
			return err
		}
		findings = append(findings, more...)
	}
	// What is wrong with the session as a whole comes first.
	if len(findings) > 0 {
		if err := v.each(Validated{Session: session, Findings: findings, Restorable: p.State != nil}); err != nil {
			return err
		}
	}
	known := inspect.ReadBroken(v.s.Repo, session)
	now := inspect.Broken{}
	l := newLine(v, p, known)
	// In batches, so that signatures are checked by one process and memory stays small.
	err = p.JudgeParts(ctx, p.Subjects(), v.deep, func(some []proof.Verdict) error {
		if err := l.readSignatures(ctx, some); err != nil {
			return err
		}
		for _, got := range some {
			line, err := l.validate(ctx, got)
			if err != nil {
				return err
			}
			// The list is replaced as a whole at the end: a checkpoint that is whole again
			// disappears from it.
			note(now, line)
			if err := v.each(line); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	v.remember(session, now)
	return nil
}

// remember stores what was found, for `list`. Where that is impossible, as in a repository that can
// only be read, the answer is still valid.
func (v *validation) remember(session name.Session, b inspect.Broken) {
	if err := inspect.WriteBroken(v.s.Store, session, b); err != nil {
		v.s.Store.Warn(fmt.Sprintf("remember what was found in session %s: %v", session, err))
	}
}

// OpenProof reads a session so that its checkpoints can be judged. Without a view it reads the refs
// itself.
func OpenProof(ctx context.Context, s *store.Store, session name.Session, view *proof.View) (p *proof.Session, err error) {
	if view == nil {
		view, err = proof.ReadView(ctx, s, session)
	}
	if err == nil {
		p, err = view.Open(ctx, session)
	}
	if errors.Is(err, store.ErrNoSession) {
		return nil, checkpoint.UnknownSessionError(ctx, s, session)
	}
	if err == nil {
		err = p.JudgeLost(ctx)
	}
	return p, err
}

// one checks the named checkpoint. If that is damaged, it checks the ones before it until one is
// valid, for LastValid.
func (v *validation) one(ctx context.Context) error {
	session, id, err := provableRef(ctx, v.s, v.req.Session, v.req.Ref)
	if err != nil {
		return err
	}
	p, err := openCompleted(ctx, v.s.Store, session, nil)
	if err != nil {
		return err
	}
	subject, there := p.Subject(id)
	if !there {
		return checkpoint.Failure(checkpoint.KindNotFound, "", "no such checkpoint in session %q: %q", session, id)
	}
	known := inspect.ReadBroken(v.s.Repo, session)
	l := newLine(v, p, known)
	var line Validated
	err = p.Judge(ctx, proof.Given(subject), v.deep, func(got proof.Verdict) (err error) {
		line, err = l.validate(ctx, got)
		return err
	})
	if err == nil {
		line.LastValid, err = l.lookBack(ctx, subject)
	}
	if err != nil {
		return err
	}
	// Only this checkpoint was validated, so only its entry in the list changes.
	delete(known, line.Checkpoint)
	note(known, line)
	v.remember(session, known)
	return v.each(line)
}

// provableRef finds a checkpoint by what the user typed. If the journal is too damaged for that, it
// accepts an id, a ref or a commit id that a ref has.
func provableRef(ctx context.Context, s *checkpoint.Sessions, session, ref string) (name.Session, name.ID, error) {
	found, err := s.Resolve(ctx, session, ref)
	if err == nil {
		return found.Session, found.Entry.Checkpoint, nil
	}
	if checkpoint.KindOf(err) != checkpoint.KindNotFound && checkpoint.KindOf(err) != checkpoint.KindInvalid {
		return "", "", err
	}
	// The journal is missing or damaged. The refs of checkpoints still name session and id.
	refs, refsErr := s.Store.AllRefs(ctx)
	if refsErr != nil {
		return "", "", refsErr
	}
	for _, r := range refs {
		owner, leaf, ok := name.SplitCheckpointRef(r.Ref)
		id, idErr := name.ParseID(leaf)
		if !ok || idErr != nil || session != "" && string(owner) != session {
			continue
		}
		if ref == leaf || ref == string(r.Ref) || "refs/"+ref == string(r.Ref) || ref == string(owner)+":"+leaf || ref == string(r.OID) {
			return owner, id, nil
		}
	}
	return "", "", err
}

// A journal cannot be changed without changing the id of its newest commit, so whoever keeps that id can detect
// any rewrite with `history --verify`.

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
