// Package attempt forks a step into worktrees and sessions of their own, compares what came
// of them, and brings the one that won back into the session that it was forked from.
package attempt

import (
	"context"
	"errors"
	"fmt"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/linked"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/rollback"
	"git-checkpoint/internal/run"
	"git-checkpoint/internal/snapshot"
)

// ForkRequest is what `fork` was asked for.
type ForkRequest struct {
	Session     string
	Ref         string
	Dir         string // empty: beside this worktree
	Count       int
	Name        string
	Branch      string // a new one for each; empty: HEAD is detached
	SessionName string
	CopyIgnored []string // pathspecs
	Command     []string // {} becomes the name; empty: none is run
	Jobs        int
	IO          inspect.IO
}

// Attempt is a session that was forked from another, and its worktree.
type Attempt struct {
	Name        string               `json:"name"`
	Session     name.Session         `json:"session"`
	FromSession name.Session         `json:"from_session"`
	From        name.ID              `json:"from"`
	FromLabel   string               `json:"from_label"` // empty when the checkpoint is gone
	Worktree    string               `json:"worktree"`   // its directory; empty when it was removed
	Branch      string               `json:"branch"`     // empty when HEAD is detached there
	Current     *checkpoint.Labelled `json:"current"`
	Steps       int                  `json:"steps"`      // checkpoints since the fork
	Unfinished  bool                 `json:"unfinished"` // the fork was cut off
	Run         *Ran                 `json:"run,omitempty"`
}

// Ran is what became of the command in an attempt.
type Ran struct {
	Code    int     `json:"code"`
	Created name.ID `json:"created"` // empty without a checkpoint
	Label   string  `json:"label"`
	Problem string  `json:"problem,omitempty"`
}

// forking is a fork on its way.
type forking struct {
	s      *checkpoint.Service
	req    ForkRequest
	from   *checkpoint.Found
	record *record.Record
	target snapshot.Target
	head   name.OID
	made   []*place
}

// place is one attempt that is being made.
type place struct {
	Attempt
	note *linked.Note
	s    *checkpoint.Service // in the new worktree
}

// Fork makes the attempts, and runs the command in each. The attempts that are there are
// answered with an error too.
func Fork(ctx context.Context, s *checkpoint.Service, req ForkRequest) ([]Attempt, error) {
	f := &forking{s: s, req: req}
	if err := f.prepare(ctx); err != nil {
		return nil, err
	}
	defer f.close()
	for i := range max(req.Count, 1) {
		p, err := f.reserve(ctx, i)
		if err == nil {
			err = f.make(ctx, p)
		}
		if err != nil {
			return f.answer(), err
		}
		f.made = append(f.made, p)
	}
	if len(req.Command) == 0 {
		return f.answer(), nil
	}
	err := f.runAll(ctx)
	return f.answer(), err
}

func (f *forking) answer() []Attempt {
	all := make([]Attempt, len(f.made))
	for i, p := range f.made {
		all[i] = p.Attempt
	}
	return all
}

func (f *forking) close() {
	for _, p := range f.made {
		if err := p.s.Close(); err != nil {
			f.s.Warn(err.Error())
		}
	}
}

// prepare refuses what cannot be forked, before anything is made.
func (f *forking) prepare(ctx context.Context) error {
	if err := f.check(ctx); err != nil {
		return err
	}
	var err error
	if f.from, err = f.s.Reach(ctx, f.req.Session, f.req.Ref); err != nil {
		return err
	}
	e := f.from.Entry
	if f.record, _, _, err = f.s.ReadRecord(ctx, e); err != nil {
		return checkpoint.DamagedError(e, err)
	}
	if f.record.Snapshot.Tree == "" {
		return &checkpoint.Error{Kind: checkpoint.KindRefused, Message: e.Label + " was imported without files, so there is nothing to fork"}
	}
	if f.target, err = rollback.TargetOf(ctx, f.s, e); err != nil {
		return err
	}
	for _, sk := range f.record.Snapshot.Skipped {
		f.s.Warn(fmt.Sprintf("not in the checkpoint, and so not in the fork: %s (%s)", sk.Path, sk.Reason))
	}
	f.head = f.record.Git.Head
	if f.head == "" || !f.has(ctx, f.head) {
		f.head = f.s.Repo.Head.OID
		if f.head != "" {
			f.s.Warn(fmt.Sprintf("the commit that %s was made on is not here; HEAD of the fork is that of this worktree", e.Label))
		}
	}
	if f.head == "" {
		return &checkpoint.Error{
			Kind: checkpoint.KindRefused, Message: "there is no commit yet, and a linked worktree needs one",
			Hints: []string{"`git commit --allow-empty -m Begin` makes the first one; files and index stay as they are"},
		}
	}
	return f.checkBranches(ctx)
}

func (f *forking) has(ctx context.Context, oid name.OID) bool {
	_, err := f.s.Repo.ReadCommit(ctx, string(oid))
	return err == nil
}

// check refuses a request that means nothing.
func (f *forking) check(ctx context.Context) error {
	switch req := f.req; {
	case req.Count < 0 || req.Count > mostForks:
		return checkpoint.Usage("", "--count takes a number from 1 to %d", mostForks)
	case req.Jobs < 0:
		return checkpoint.Usage("", "--jobs takes a number from 1")
	case req.Jobs > 1 && len(req.Command) == 0:
		return checkpoint.Usage("the command goes after --", "--jobs is about a command, and there is none")
	}
	for _, typed := range []string{f.req.Name, f.req.SessionName} {
		if typed == "" {
			continue
		}
		if _, err := name.ParseSession(typed); err != nil {
			return checkpoint.Usage("letters, digits, ., _ and -", "%q is no name for an attempt: %v", name.Clip(typed, name.Said), err)
		}
	}
	if len(f.req.Command) > 0 {
		return run.Find(f.req.Command[0])
	}
	if on, err := f.s.Settings.Bool("checkpoint.enabled", true); err != nil || !on {
		return errors.Join(err, &checkpoint.Error{Kind: checkpoint.KindNothing, Message: "checkpoints are switched off here (checkpoint.enabled)"})
	}
	return ctx.Err()
}

// mostForks bounds --count: a worktree is a whole copy of the files.
const mostForks = 100

// checkBranches refuses names that git refuses, and branches that are there.
func (f *forking) checkBranches(ctx context.Context) error {
	if f.req.Branch == "" {
		return nil
	}
	for i := range max(f.req.Count, 1) {
		branch := f.lettered(f.req.Branch, i)
		if _, err := f.s.Repo.Output(ctx, "check-ref-format", "--branch", branch); err != nil {
			return checkpoint.Usage("", "%q is no branch name", name.Clip(branch, name.Said))
		}
		if _, err := f.s.Repo.Batch().Resolve(ctx, name.Ref("refs/heads/"+branch)); err == nil {
			return checkpoint.Usage("choose another name", "branch %q exists already", branch)
		}
	}
	return nil
}

// lettered gives the attempts of several names that differ.
func (f *forking) lettered(base string, i int) string {
	if f.req.Count <= 1 {
		return base
	}
	return base + letter(i)
}

// make makes one attempt. One that fails leaves nothing behind.
func (f *forking) make(ctx context.Context, p *place) (err error) {
	defer func() {
		if err == nil {
			err = p.note.End()
			return
		}
		if p.s != nil {
			err = errors.Join(err, p.s.Close())
		}
		err = errors.Join(err, f.unmake(context.WithoutCancel(ctx), p))
	}()
	if err := linked.Add(ctx, f.s, linked.Place{Dir: p.Worktree, Branch: p.Branch, At: f.head}); err != nil {
		return err
	}
	f.s.Trace("added")
	if p.s, err = checkpoint.OpenAt(ctx, f.s, p.Worktree); err != nil {
		return err
	}
	if err := linked.Fill(ctx, p.s, f.target); err != nil {
		return err
	}
	f.s.Trace("filled")
	if err := copyIgnored(ctx, f.s, p.s, f.req.CopyIgnored); err != nil {
		return err
	}
	if err := p.s.Remember(forkFile, p.Attempt); err != nil {
		return err
	}
	made, err := create.Checkpoint(ctx, p.s, create.Request{
		Session: string(p.Session), Fork: &create.Fork{From: f.from, Name: p.Name}, Size: create.SizeLarge,
		IncludeIgnored: literal(inspect.IgnoredOf(f.record)),
	})
	if err != nil {
		return err
	}
	p.Current = &checkpoint.Labelled{ID: made.Record.ID, Label: made.Record.Label}
	return nil
}

// literal makes pathspecs of paths.
func literal(paths []string) []string {
	specs := make([]string, len(paths))
	for i, p := range paths {
		specs[i] = ":(top,literal)" + p
	}
	return specs
}

// unmake takes away what there is of an attempt that failed.
func (f *forking) unmake(ctx context.Context, p *place) error {
	if err := p.note.Clear(ctx, f.s); err != nil {
		return err // the note stays, and doctor names it
	}
	if p.Branch != "" {
		if _, err := f.s.Repo.Output(ctx, "update-ref", "-d", "refs/heads/"+p.Branch, string(f.head)); err != nil {
			f.s.Warn(err.Error())
		}
	}
	return nil
}

// forkFile stands in the git directory of a fork's worktree.
const forkFile = "fork.json"
