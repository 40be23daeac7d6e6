// Package expunge takes something out of every checkpoint that holds it: a file, a blob, or
// the secrets that a rule finds. Objects never change, so a checkpoint that holds it is
// written again without it, and the old one gets a tombstone. Here that is done at once, at
// remotes by the next push, in other clones by their next fetch.
package expunge

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/clearance"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// Request is what `expunge` was asked for.
type Request struct {
	Target  string // path or blob; empty: Rule says it
	Rule    string
	Session string  // empty: all
	Replace *string // what stands in the place of what goes; nil: see Plan

	again bool // what is on the list of this repository goes; set by Again
}

// Rewritten is a checkpoint that holds what goes.
type Rewritten struct {
	ID      name.ID      `json:"id"`
	Label   string       `json:"label"`
	Session name.Session `json:"session"`
	Holds   []string     `json:"holds"`   // the places; empty: it only comes after one that does
	Rebuilt name.ID      `json:"rebuilt"` // what stands in for it; empty before it is done
}

// Answer is the plan of an expunge, and what was done.
type Answer struct {
	Checkpoints []Rewritten `json:"checkpoints"`
	Objects     []name.OID  `json:"objects"`     // the blobs that go
	UndoLevels  int         `json:"undo_levels"` // those whose files are without it from now on
	Yours       []string    `json:"yours"`       // what of the user's own still holds it
	Kept        []string    `json:"kept"`        // what cannot be rewritten
	DryRun      bool        `json:"dry_run"`
}

// Plan is what an expunge will do. A named file goes, or holds the text of Replace where the
// secrets were. The same secret anywhere else, and what a rule finds, is replaced.
type Plan struct {
	s        *checkpoint.Service
	req      Request
	desk     *clearance.Desk
	goal     goal
	sessions []*rewriting
	clean    map[name.OID]name.OID // by blob: what stands in its place; empty: it goes
	heads    map[name.OID]bool     // commits that HEAD was at: whether they are dropped
	user     []name.OID            // refs of the user's
	answer   *Answer
}

// Prepare finds what goes and which checkpoints hold it. Nothing is changed.
func Prepare(ctx context.Context, s *checkpoint.Service, req Request) (*Plan, error) {
	if err := s.RefuseHalfRolledBack(); err != nil {
		return nil, err
	}
	if (req.Target == "") == (req.Rule == "") {
		return nil, checkpoint.Usage("git checkpoint expunge config.env, or --rule aws-access-key", "name a file or blob, or a rule")
	}
	p, err := prepare(ctx, s, req)
	if err != nil {
		return nil, err
	}
	return p, p.survey(ctx)
}

// Again takes what was expunged here before out of checkpoints that hold it all the same: a
// clone that had not heard of it made and sent them. Every clone works this out from the
// same objects, so all of them write the same checkpoints. Nothing is done while a rollback
// is half done; the next fetch does it.
func Again(ctx context.Context, s *checkpoint.Service) ([]Rewritten, error) {
	list, err := clearance.ReadExpunged(s.Repo)
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	if len(list.Objects) == 0 || s.RefuseHalfRolledBack() != nil {
		return nil, nil //nolint:nilerr // whoever fetched hears of the half rollback from other commands
	}
	p, err := prepare(ctx, s, Request{again: true})
	if err != nil {
		return nil, err
	}
	done, err := p.Apply(ctx)
	if err != nil {
		return nil, err
	}
	return done.Checkpoints, nil
}

// prepare finds the checkpoints that hold what goes.
func prepare(ctx context.Context, s *checkpoint.Service, req Request) (*Plan, error) {
	desk, err := clearance.OpenDesk(ctx, s)
	if err != nil {
		return nil, err
	}
	if req.Rule != "" && !desk.Knows(req.Rule) {
		return nil, checkpoint.Usage("`git checkpoint guard --rules` lists the rules", "no rule is called %q", name.Clip(req.Rule, name.Said))
	}
	p := &Plan{s: s, req: req, desk: desk, clean: map[name.OID]name.OID{}, answer: &Answer{Checkpoints: []Rewritten{}}}
	if err := p.read(ctx); err != nil {
		return nil, err
	}
	if err := p.aim(ctx); err != nil {
		return nil, err
	}
	if err := desk.Close(); err != nil {
		s.Warn(err.Error())
	}
	for _, r := range p.sessions {
		if err := r.find(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Answer is the plan for whoever shows it.
func (p *Plan) Answer() *Answer { return p.answer }

// read reads the sessions.
func (p *Plan) read(ctx context.Context) error {
	var sessions []name.Session
	if p.req.Session != "" {
		session, err := p.s.RequireSession(p.req.Session)
		if err != nil {
			return err
		}
		sessions = []name.Session{session}
	} else {
		infos, _, err := p.s.Store.Sessions(ctx)
		if err != nil {
			return checkpoint.Classify(err)
		}
		for _, info := range infos {
			if info.JournalOID != "" {
				sessions = append(sessions, info.Session)
			}
		}
	}
	for _, session := range sessions {
		r := &rewriting{plan: p, session: session, below: map[name.OID][]place{}}
		if err := r.open(ctx); err != nil {
			return err
		}
		if r.state.ReadOnly != "" {
			p.answer.Kept = append(p.answer.Kept, fmt.Sprintf("session %s is read-only here: %s", session, r.state.ReadOnly))
			continue
		}
		p.sessions = append(p.sessions, r)
	}
	return nil
}

// goal is what goes.
type goal struct {
	blobs   map[name.OID]bool // named ones
	marked  map[name.OID]bool // everything else that holds one of the secrets
	secrets map[string]bool   // by fingerprint
}

func (g *goal) hit(oid name.OID) bool { return g.blobs[oid] || g.marked[oid] }

// aim works out what goes: the blobs that were named, and everything that holds a secret
// that is in them or that the rule finds.
func (p *Plan) aim(ctx context.Context) error {
	p.goal = goal{map[name.OID]bool{}, map[name.OID]bool{}, map[string]bool{}}
	var tips []name.OID
	for _, r := range p.sessions {
		tips = append(tips, slices.Collect(maps.Values(r.held))...)
	}
	report, err := p.desk.Sent(ctx, tips, nil)
	if err != nil {
		return checkpoint.Classify(err)
	}
	switch {
	case p.req.again:
		p.listed(report)
	case p.req.Rule != "":
		for _, f := range report.Stopped() {
			if f.Rule == p.req.Rule && f.Fingerprint != "" {
				p.goal.secrets[f.Fingerprint] = true
			}
		}
	default:
		if err := p.named(ctx); err != nil {
			return err
		}
	}
	for _, f := range report.Found {
		if p.goal.blobs[f.OID] && f.Allowed == "" && f.Fingerprint != "" {
			p.goal.secrets[f.Fingerprint] = true
		}
	}
	for _, f := range report.Found {
		if p.goal.secrets[f.Fingerprint] && !p.goal.blobs[f.OID] {
			p.goal.marked[f.OID] = true
		}
	}
	if p.req.again || len(p.goal.blobs)+len(p.goal.marked) > 0 {
		return nil
	}
	gone := &checkpoint.Error{Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("no checkpoint holds %q", name.Clip(p.req.Target, name.Said))}
	if p.req.Rule != "" {
		gone.Message = fmt.Sprintf("no checkpoint holds what %q finds", name.Clip(p.req.Rule, name.Said))
		gone.Hints = []string{"`git checkpoint guard --all` lists what was found; `guard --rules` lists the rules"}
	}
	if p.unfinished() {
		return nil
	}
	return gone
}

// listed takes what was expunged before. Of a blob in which the guard finds secrets these
// are replaced, because the rest of the file may be somebody's work; any other goes.
func (p *Plan) listed(report *clearance.Report) {
	for _, f := range report.Found {
		if f.Rule == clearance.RuleExpunged {
			p.goal.blobs[f.OID] = true
		}
	}
	found := map[name.OID]bool{}
	for _, f := range report.Found {
		if p.goal.blobs[f.OID] && f.Allowed == "" && f.Fingerprint != "" {
			p.goal.secrets[f.Fingerprint], found[f.OID] = true, true
		}
	}
	maps.DeleteFunc(p.goal.blobs, func(oid name.OID, _ bool) bool { return found[oid] })
}

// named finds the blobs at a path, or the one with an id.
func (p *Plan) named(ctx context.Context) error {
	path := p.req.Target
	if below, err := p.s.Repo.Below(path); err == nil {
		path = below
	}
	for _, r := range p.sessions {
		for _, commit := range r.held {
			if err := r.at(ctx, commit, path, p.goal.blobs); err != nil {
				continue // a damaged checkpoint is named by find
			}
		}
	}
	delete(p.goal.blobs, git.HashObject(p.s.Repo.Format, "blob", nil)) // an empty file tells nothing
	if len(p.goal.blobs) > 0 || len(p.req.Target) < 7 {
		return nil
	}
	o, err := p.s.Repo.Batch().Object(ctx, p.req.Target+"^{blob}")
	if err == nil && o.Size > 0 && len(p.req.Target) <= len(o.OID) && string(o.OID[:len(p.req.Target)]) == p.req.Target {
		p.goal.blobs[o.OID] = true
	}
	return nil
}
