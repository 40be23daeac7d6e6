package create

import (
	"context"
	"errors"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
)

// Foreseen is what is known about a checkpoint before its step has run.
type Foreseen struct {
	Session    name.Session
	Definition *workflow.Definition
	Record     *record.Record // without files and id
	State      *journal.State // the fold of the session
	Current    *journal.Entry // the checkpoint that it will follow; nil for the first
	Held       error          // why it cannot be made now although nothing is wrong with it: the session waits
}

// Foresee composes a checkpoint as far as possible before its step has run. It lets `run` refuse a
// step whose trigger, state or order the workflow rejects before the command starts. It writes
// nothing.
func Foresee(ctx context.Context, s *checkpoint.Service, req Request) (*Foreseen, error) {
	in, err := place(ctx, s, req)
	if err != nil {
		return nil, err
	}
	def, err := in.define(ctx)
	if err != nil {
		return nil, err
	}
	if !req.DryRun {
		if err := checkpoint.RefuseHalfRolledBack(s.Repo); err != nil {
			return nil, err
		}
	}
	d, held := in.foresee(ctx, def)
	if held != nil && (d == nil || !d.held) {
		return nil, held
	}
	if err := rejected(def, def.CheckOrder(d.forRules())); err != nil {
		return nil, err
	}
	return &Foreseen{Session: in.home.session, Definition: def, Record: d.record, State: d.st, Current: d.prev.entry, Held: held}, nil
}

// foresee composes the record as far as that needs no capture, because nothing is captured before the step has run. With an
// error it returns the draft as far as it got, or nil if there is none.
func (r *request) foresee(ctx context.Context, def *workflow.Definition) (*draft, error) {
	st, err := r.view(ctx)
	if err != nil {
		return nil, err
	}
	got := &captured{in: r, def: def}
	if got.document, err = r.accept(def); err != nil {
		return nil, err
	}
	d, err := got.draft(ctx, st)
	if err != nil {
		return nil, err
	}
	return d, d.prepare()
}

// view returns the session as a transaction would see it, nil for a new one. It starts none, because nothing will be
// written.
func (r *request) view(ctx context.Context) (*journal.State, error) {
	st, err := r.s.Store.State(ctx, r.home.session)
	if errors.Is(err, store.ErrNoSession) {
		st = nil
		if err = checkpoint.UnknownSessionError(ctx, r.s.Store, r.home.session); checkpoint.KindOf(err) == checkpoint.KindNotFound {
			err = nil // a new session, and not one that lost its journal
		}
	}
	return st, err
}
