// Package repair proves that checkpoints are whole, rebuilds damaged ones, and looks for
// what is in the way of this program (doctor). It mends only what it has made itself.
package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/proof"
	"git-checkpoint/internal/store"
)

// Depth says how far a validation looks.
type Depth int

// The depths; the zero value reads records and what they stand in.
const (
	DepthRecords Depth = iota
	DepthObjects       // every object once
)

// Signatures says whether everything has to be signed.
type Signatures int

// The choices; the zero value shows the signatures that there are.
const (
	SignaturesShown Signatures = iota
	SignaturesRequired
)

// ValidateRequest is what `validate` was asked for. Read is told of objects as they are
// read; nil: nobody wants to know.
type ValidateRequest struct {
	Ref        string
	Session    string
	All        bool
	Depth      Depth
	Signatures Signatures
	Read       func(objects int)
}

// Validated is one line of `validate`: a checkpoint, or, with an empty id, what is wrong
// with a session as a whole.
type Validated struct {
	Checkpoint name.ID              `json:"checkpoint"`
	Label      string               `json:"label"`
	Session    name.Session         `json:"session"`
	OK         bool                 `json:"ok"`
	Restorable bool                 `json:"restorable"`
	Findings   []checkpoint.Finding `json:"findings"`
	LastValid  name.ID              `json:"last_valid"` // the newest valid one before it in its line

	Signature *Signature `json:"signature"` // null without one
}

// Signature is what git says of the signature of a commit.
type Signature struct {
	Status string `json:"status"` // good, untrusted, bad, expired, expired_key, revoked, unchecked
	Signer string `json:"signer"`
	Key    string `json:"key"`
	Trust  string `json:"trust"`
}

// validation is one run over sessions.
type validation struct {
	s    *checkpoint.Service
	req  ValidateRequest
	deep *proof.Deep // nil: not that deep
	each func(Validated) error
}

// Validate judges checkpoints and hands each line on as soon as it is known. It changes
// nothing but this worktree's own note of what is broken.
func Validate(ctx context.Context, s *checkpoint.Service, req ValidateRequest, each func(Validated) error) error {
	v := &validation{s: s, req: req, each: each}
	if req.Depth == DepthObjects {
		read := req.Read
		if read == nil {
			read = func(int) {}
		}
		v.deep = proof.NewDeep(s.Store, read)
	}
	if req.Ref != "" {
		return checkpoint.Classify(v.one(ctx))
	}
	sessions, view, err := provable(ctx, s, req.Session, req.All)
	if err != nil {
		return err
	}
	for _, session := range sessions {
		if err := v.session(ctx, session, view); err != nil {
			return checkpoint.Classify(err)
		}
	}
	return nil
}

// provable lists the sessions to look at: one, or all that there are and those whose
// journal is gone. The view is of all of them, nil for one.
func provable(ctx context.Context, s *checkpoint.Service, wanted string, all bool) ([]name.Session, *proof.View, error) {
	gone, err := s.Store.Remembered()
	if err != nil {
		return nil, nil, checkpoint.Classify(err)
	}
	// What nobody can read any more, as a cache of another version, says of no journal.
	unseen := func(session name.Session) bool { return len(s.Store.Seen(session)) == 0 }
	if !all {
		session, err := s.ChooseSession(ctx, wanted)
		if checkpoint.KindOf(err) == checkpoint.KindNotFound && wanted == "" {
			return slices.DeleteFunc(gone, unseen), nil, nil
		}
		return []name.Session{session}, nil, err
	}
	view, err := proof.Look(ctx, s.Store)
	if err != nil {
		return nil, nil, checkpoint.Classify(err)
	}
	there := view.Sessions()
	gone = slices.DeleteFunc(gone, func(session name.Session) bool { return slices.Contains(there, session) || unseen(session) })
	sessions := append(there, gone...)
	slices.Sort(sessions)
	return sessions, view, nil
}

// session judges all checkpoints of one session.
func (v *validation) session(ctx context.Context, session name.Session, view *proof.View) error {
	p, err := OpenProof(ctx, v.s, session, view)
	if err != nil {
		return err
	}
	findings := append(slices.Clone(p.Notes.Findings), p.Findings...)
	if v.req.Signatures == SignaturesRequired {
		more, err := unsignedEvents(ctx, v.s, p)
		if err != nil {
			return err
		}
		findings = append(findings, more...)
	}
	if len(findings) > 0 {
		if err := v.each(Validated{Session: session, Findings: findings, Restorable: p.State != nil}); err != nil {
			return err
		}
	}
	known := inspect.ReadBroken(v.s, session)
	now := inspect.Broken{}
	l := newLine(v, p, known)
	err = p.JudgeParts(ctx, p.Subjects(), v.deep, func(some []proof.Verdict) error {
		if err := l.readSignatures(ctx, some); err != nil {
			return err
		}
		for _, got := range some {
			line, err := l.judge(ctx, got)
			if err != nil {
				return err
			}
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
	return inspect.WriteBroken(v.s, session, now)
}

// OpenProof reads a session for judgement; without a view it looks itself.
func OpenProof(ctx context.Context, s *checkpoint.Service, session name.Session, view *proof.View) (p *proof.Session, err error) {
	if view == nil {
		view, err = proof.LookAt(ctx, s.Store, session)
	}
	if err == nil {
		p, err = view.Open(ctx, session)
	}
	if errors.Is(err, store.ErrNoSession) {
		return nil, s.UnknownSessionError(ctx, session)
	}
	if err == nil {
		err = p.JudgeLost(ctx)
	}
	return p, err
}

// one judges the checkpoint that was named, and those before it until one is valid.
func (v *validation) one(ctx context.Context) error {
	session, id, err := provableRef(ctx, v.s, v.req.Session, v.req.Ref)
	if err != nil {
		return err
	}
	p, err := OpenProof(ctx, v.s, session, nil)
	if err != nil {
		return err
	}
	subject, there := p.Subject(id)
	if !there {
		return &checkpoint.Error{Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("no such checkpoint in session %q: %q", session, id)}
	}
	known := inspect.ReadBroken(v.s, session)
	l := newLine(v, p, known)
	var line Validated
	err = p.Judge(ctx, proof.Given(subject), v.deep, func(got proof.Verdict) (err error) {
		line, err = l.judge(ctx, got)
		return err
	})
	if err == nil {
		line.LastValid, err = l.lookBack(ctx, subject)
	}
	if err != nil {
		return err
	}
	delete(known, line.Checkpoint)
	note(known, line)
	if err := inspect.WriteBroken(v.s, session, known); err != nil {
		return err
	}
	return v.each(line)
}

// provableRef finds a checkpoint by what a person typed; where the journal is of no help
// an id or a full ref is enough.
func provableRef(ctx context.Context, s *checkpoint.Service, session, ref string) (name.Session, name.ID, error) {
	found, err := s.Resolve(ctx, session, ref)
	if err == nil {
		return found.Session, found.Entry.Checkpoint, nil
	}
	if checkpoint.KindOf(err) != checkpoint.KindNotFound && checkpoint.KindOf(err) != checkpoint.KindInvalid {
		return "", "", err
	}
	refs, refsErr := s.Store.AllRefs(ctx)
	if refsErr != nil {
		return "", "", checkpoint.Classify(refsErr)
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
