// Package expunge removes content from every checkpoint that holds it: a file, a blob, or
// the secrets that a rule finds. Objects never change, so a checkpoint that holds the
// content is written again without it, and the old one gets a tombstone. This repository is
// cleaned at once, remotes by the next push, and other clones by their next fetch. See
// docs/format.md, Expunge.
//
// Prepare finds the checkpoints (hunt.go) and what else holds the content (held.go), and
// returns a Plan. Plan.Apply writes the replacements (rewrite.go) and the change of the
// journal (apply.go). Again does the same after a fetch, for checkpoints that others made
// before they learned of the expunge.
package expunge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// Request holds the options of `expunge`. Exactly one of Target and Rule is set.
type Request struct {
	Target  string  // a path or a blob id
	Rule    string  // the id of a rule of the guard, whose findings are removed
	Session string  // empty: all
	Replace *string // text in place of the content; nil: see Plan

	again bool // everything on this repository's list of expunged objects is removed; set by Repeat
}

// Rewritten is a checkpoint that is rewritten.
type Rewritten struct {
	ID      name.ID      `json:"id"`
	Label   string       `json:"label"`
	Session name.Session `json:"session"`
	Holds   []string     `json:"holds"`   // where it has the content; empty: it only comes after one that has it
	Rebuilt name.ID      `json:"rebuilt"` // its replacement; empty in a plan

	Mention checkpoint.Mention `json:"-"`
}

// Answer describes an expunge, planned or done.
type Answer struct {
	Checkpoints []Rewritten `json:"checkpoints"`
	Objects     []name.OID  `json:"objects"`     // the blobs that are removed
	UndoLevels  int         `json:"undo_levels"` // undo levels whose files lack the content from now on
	Yours       []string    `json:"yours"`       // refs and files of the user that still hold the content
	Copies      []string    `json:"copies"`      // files beside git's objects that hold the content: copies that this program made
	// What cannot be rewritten, with the reason.
	Kept   []string `json:"kept"`
	DryRun bool     `json:"dry_run"`
}

// Plan is a planned expunge. A file that was named is removed, or, with Replace, its secrets are
// replaced. The same secrets in other files, and those that a rule finds, are always replaced,
// because the rest of such a file is to stay.
type Plan struct {
	s        *checkpoint.Service
	req      Request
	desk     *clearance.Scanner
	goal     goal
	sessions []*rewriting
	clean    map[name.OID]name.OID // replacement of each blob; empty: the blob is removed
	heads    map[name.OID]bool     // whether a commit on which HEAD was is dropped as a parent
	user     []name.OID            // values of the user's refs
	copies   []clearance.Copy
	lines    [][]byte // of named files without a secret, for copies
	answer   *Answer
}

// Prepare finds what is removed and which checkpoints hold it. Nothing is changed.
func Prepare(ctx context.Context, s *checkpoint.Service, req Request) (*Plan, error) {
	if err := checkpoint.RefuseHalfRolledBack(s.Repo); err != nil {
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

// Repeat removes what was expunged here from checkpoints that still hold it. A clone that
// did not know of the expunge has made and pushed them. Every clone computes the same
// replacements from the same objects, so that clones agree. While a rollback is half done
// it does nothing; the next fetch will.
func Repeat(ctx context.Context, s *checkpoint.Service) ([]Rewritten, error) {
	list, err := clearance.ReadExpunged(s.Repo)
	if err != nil {
		return nil, err
	}
	if len(list.Objects) == 0 || checkpoint.RefuseHalfRolledBack(s.Repo) != nil {
		return nil, nil //nolint:nilerr // other commands report the half-done rollback
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

// prepare finds the checkpoints that hold the content.
func prepare(ctx context.Context, s *checkpoint.Service, req Request) (*Plan, error) {
	desk, err := clearance.OpenScanner(ctx, s)
	if err != nil {
		return nil, err
	}
	if req.Rule != "" && !desk.Knows(req.Rule) {
		return nil, checkpoint.Usage("`git checkpoint guard --rules` lists the rules", "no such rule: %q", name.Clip(req.Rule, name.Said))
	}
	p := &Plan{s: s, req: req, desk: desk, clean: map[name.OID]name.OID{}, answer: &Answer{Checkpoints: []Rewritten{}}}
	if err := p.read(ctx); err != nil {
		return nil, err
	}
	if err := p.aim(ctx); err != nil {
		return nil, err
	}
	if err := desk.Close(); err != nil {
		s.Store.Warn(err.Error())
	}
	for _, r := range p.sessions {
		if err := r.find(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Answer returns the plan in a form to show.
func (p *Plan) Answer() *Answer { return p.answer }

// read reads the sessions. One that is read-only cannot be rewritten and is listed in Kept.
func (p *Plan) read(ctx context.Context) error {
	var sessions []name.Session
	if p.req.Session != "" {
		session, err := p.s.Sessions.RequireSession(ctx, p.req.Session)
		if err != nil {
			return err
		}
		sessions = []name.Session{session}
	} else {
		var err error
		if sessions, err = p.s.Store.Sessions(ctx); err != nil {
			return err
		}
	}
	for _, session := range sessions {
		r := &rewriting{plan: p, session: session, as: session, below: map[name.OID][]place{}}
		err := r.open(ctx)
		switch {
		case errors.Is(err, store.ErrNoSession) && p.req.Session == "":
			continue // it has no journal
		case errors.Is(err, store.ErrNoSession):
			return checkpoint.UnknownSessionError(ctx, p.s.Store, session)
		case err != nil:
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

// goal is the content to remove.
type goal struct {
	blobs map[name.OID]bool // blobs that were named
	// Other objects that hold one of the secrets.
	marked  map[name.OID]bool
	secrets map[string]bool // by fingerprint
}

// hit reports whether an object is part of the goal.
func (g *goal) hit(oid name.OID) bool { return g.blobs[oid] || g.marked[oid] }

// spread adds the secrets of the named blobs, and what else holds one: other files, messages and states.
func (g *goal) spread(report *clearance.Report) {
	for _, f := range report.Found {
		if g.blobs[f.OID] && f.Allowed == "" && f.Fingerprint != "" {
			g.secrets[f.Fingerprint] = true
		}
	}
	for _, f := range report.Found {
		if g.secrets[f.Fingerprint] && !g.blobs[f.OID] {
			g.marked[f.OID] = true
		}
	}
}

// aim computes the goal: the named blobs, and everything that holds one of their secrets or
// a secret that the rule finds.
func (p *Plan) aim(ctx context.Context) error {
	p.goal = goal{map[name.OID]bool{}, map[name.OID]bool{}, map[string]bool{}}
	var tips []name.OID
	for _, r := range p.sessions {
		tips = append(tips, slices.Collect(maps.Values(r.held))...)
	}
	report, err := p.desk.ScanOutgoing(ctx, tips, nil)
	if err != nil {
		return err
	}
	copies, inCopies, err := p.scanCopies(ctx)
	if err != nil {
		return err
	}
	// An allowed secret, or one of another rule, stays.
	switch {
	case p.req.again:
		p.listed(report)
	case p.req.Rule != "":
		for _, f := range slices.Concat(report.Stopped(), inCopies.Stopped()) {
			if f.Rule == p.req.Rule && f.Fingerprint != "" {
				p.goal.secrets[f.Fingerprint] = true
			}
		}
	default:
		if err := p.named(ctx); err != nil {
			return err
		}
	}
	p.goal.spread(report)
	if p.req.again {
		return nil
	}
	if err := p.findCopies(ctx, copies, report.Found, inCopies.Found); err != nil || len(p.goal.blobs)+len(p.goal.marked) > 0 || slices.ContainsFunc(p.copies, func(c clearance.Copy) bool { return c.Ours }) {
		return err
	}
	return p.nothing()
}

// nothing returns the error for a goal that nothing holds, unless an earlier expunge was interrupted.
func (p *Plan) nothing() error {
	switch {
	case p.unfinished():
		return nil
	case p.req.Rule != "":
		return checkpoint.Failure(checkpoint.KindNotFound, "`git checkpoint guard --all` lists what was found; `guard --rules` lists the rules", "no checkpoint holds what %q finds", name.Clip(p.req.Rule, name.Said))
	}
	return checkpoint.Failure(checkpoint.KindNotFound, "", "no checkpoint holds %q", name.Clip(p.req.Target, name.Said))
}

// listed computes the goal from this repository's list. In a blob with findings of the
// guard the secrets are replaced, because the rest of the file may be somebody's work.
// Other blobs are removed.
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

// named adds the blobs at the path of the target, in all checkpoints, or else the blob with
// this id.
func (p *Plan) named(ctx context.Context) error {
	path := p.req.Target
	if below, err := p.s.Repo.RelativePath(path); err == nil {
		path = below
	}
	// The path may be in some checkpoints only, and each may have another version.
	for _, r := range p.sessions {
		for _, commit := range r.held {
			for _, part := range r.group(ctx, commit, path) {
				r.addBlobs(ctx, commit, part, p.goal.blobs)
			}
		}
	}
	delete(p.goal.blobs, git.HashObject(p.s.Repo.Format, "blob", nil)) // an empty file is not a secret
	if len(p.goal.blobs) > 0 || len(p.req.Target) < 7 {
		return nil
	}
	o, err := p.s.Repo.Objects.Batch().Object(ctx, p.req.Target+"^{blob}")
	// The id may be abbreviated, but nothing else of what git resolves is a blob id.
	if err == nil && o.Size > 0 && len(p.req.Target) <= len(o.OID) && string(o.OID[:len(p.req.Target)]) == p.req.Target {
		p.goal.blobs[o.OID] = true
	}
	return nil
}
