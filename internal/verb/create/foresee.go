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
	State      *journal.State // the fold of the session; nil for a new session
	Current    *journal.Entry // the checkpoint that it will follow; nil for the first
	Held       error          // why it cannot be made now although nothing is wrong with it: the session waits
}

// Foresee composes a checkpoint as far as possible before its step has run. It lets `run` refuse a
// step whose trigger, state or order the workflow rejects before the command starts. It writes
// nothing.
func Foresee(ctx context.Context, s *checkpoint.Service, req Request) (*Foreseen, error) {
	c, err := requestFor(ctx, s, req)
	if err != nil {
		return nil, err
	}
	def, err := c.define(ctx)
	if err != nil {
		return nil, err
	}
	if !req.DryRun {
		if err := s.RefuseHalfRolledBack(); err != nil {
			return nil, err
		}
	}
	d, v, held := c.foresee(ctx, def)
	if held != nil && !d.isHeld() {
		return nil, held
	}
	if err := rejected(def, def.CheckOrder(d.forRules(v))); err != nil {
		return nil, err
	}
	return &Foreseen{Session: c.session, Definition: def, Record: d.record, State: v.State, Current: d.prev.entry, Held: held}, nil
}

// foresee composes the record as far as that needs no capture. With an error it returns the draft as
// far as it got, or nil if there is none.
func (c *request) foresee(ctx context.Context, def *workflow.Definition) (*draft, store.View, error) {
	v, err := c.view(ctx)
	if err != nil {
		return nil, v, err
	}
	of, err := c.accept(def)
	if err != nil {
		return nil, v, err
	}
	got := &captured{defined: of} // nothing is captured before the step has run
	prev, err := got.previous(ctx, v)
	if err != nil {
		return nil, v, err
	}
	d := &draft{captured: got, prev: prev}
	return d, v, d.prepare(v)
}

// view returns the session as a transaction would see it. It starts none, because nothing will be
// written.
func (c *request) view(ctx context.Context) (store.View, error) {
	st, err := c.s.Store.State(ctx, c.session)
	if errors.Is(err, store.ErrNoSession) {
		st = nil
		if err = c.s.UnknownSessionError(ctx, c.session); checkpoint.KindOf(err) == checkpoint.KindNotFound {
			err = nil // a new session, and not one that lost its journal
		}
	}
	return store.View{State: st}, err
}
