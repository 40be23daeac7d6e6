package expunge

// Expunging a session is one transaction on its journal. Before it, the list of expunged
// objects is extended, so that nothing on it can be pushed any more, and the new
// checkpoints are written. A kill at any point leaves old or new checkpoints, and a second
// run completes the rest: the same input gives the same ids and commits.

import (
	"context"
	"errors"
	"fmt"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// errMoved means that another process wrote to the session after the expunge was planned.
var errMoved = errors.New("somebody else wrote to the session in the meantime")

// Apply carries out the plan, session by session. If it is interrupted, running it again
// completes it.
func (p *Plan) Apply(ctx context.Context) (*Answer, error) {
	list, err := clearance.ReadExpunged(p.s.Repo)
	if err != nil {
		return nil, err
	}
	p.answer.Checkpoints = []Rewritten{}
	for _, r := range p.sessions {
		for try := 0; ; try++ {
			err := r.apply(ctx, list)
			if err == nil {
				break
			}
			if !errors.Is(err, errMoved) || try >= checkpoint.Attempts {
				return nil, err
			}
			if err := p.replan(ctx, r); err != nil {
				return nil, err
			}
		}
	}
	p.answer.DryRun = false
	checkpoint.SweepOutside(ctx, p.s.Rules)
	return p.answer, p.cleanCopies()
}

// replan plans one session again, on its current journal.
func (p *Plan) replan(ctx context.Context, r *rewriting) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	if err := p.aim(ctx); err != nil {
		return err
	}
	// The goal may have changed, so what was found below the trees is no longer valid.
	clear(r.below)
	return r.find(ctx)
}

// apply rewrites the checkpoints of a session and removes the old ones.
func (r *rewriting) apply(ctx context.Context, list *clearance.Expunged) error {
	if len(r.old) == 0 && (len(r.dead) == 0 || r.plan.req.again) {
		return nil
	}
	s := r.plan.s
	// First of all, so that a push refuses them from now on.
	if err := list.Add(r.session, r.ids(), r.objects()); err != nil {
		return err
	}
	s.Trace("listed")
	before := map[name.ID]*made{}
	var all []*made
	// A later checkpoint names an earlier one as its previous, so replacements are written
	// in order.
	for _, o := range r.old {
		m, err := r.rewrite(ctx, o, before)
		if err != nil {
			return fmt.Errorf("rewrite %s: %w", o.entry.Label, err)
		}
		before[o.entry.Checkpoint], all = m, append(all, m)
	}
	s.Trace("rewritten")
	res, err := checkpoint.Transact(ctx, s.Store, r.as, func(ctx context.Context, v store.View) (store.Change, error) {
		// The new checkpoints were written for another state of the session.
		if v.Tip != r.tip {
			return store.Change{}, errMoved
		}
		if r.as != r.session {
			return r.begin(all)
		}
		return r.change(ctx, all)
	})
	if err != nil {
		return err
	}
	s.Trace("expunged")
	for _, m := range all {
		r.plan.answer.Checkpoints = append(r.plan.answer.Checkpoints, Rewritten{
			ID: m.entry.Checkpoint, Label: m.entry.Label, Session: r.session, Holds: m.places(), Rebuilt: m.record.ID, Mention: checkpoint.MentionOf(m.record),
		})
	}
	if r.as != r.session {
		return nil
	}
	return r.stayWhereItWas(ctx, res.State, before)
}

// ids returns the checkpoints that are replaced.
func (r *rewriting) ids() []name.ID {
	return gather.List(r.old, func(o *old) name.ID { return o.entry.Checkpoint })
}

// objects returns the objects that must not come back: the content itself, and the commits
// and records that hold it.
func (r *rewriting) objects() []name.OID {
	var all []name.OID
	for _, o := range r.old {
		all = append(all, o.entry.Event().Commit)
		// A checkpoint that only comes after one with the content has nothing else to hide, and which
		// objects a rewrite of history took away is not known.
		if !o.holds || r.from != nil {
			continue
		}
		all = append(all, o.record.OID)
		all = append(all, o.blobs()...)
	}
	return all
}

// change returns the change of the journal: rebuild events for the new checkpoints, pins
// and discards as the old ones had them, and a prune with the tombstones of the old ones.
func (r *rewriting) change(ctx context.Context, all []*made) (store.Change, error) {
	s, change := r.plan.s, store.Change{}
	var pins []journal.Event
	var discarded []name.ID
	var tombs []journal.Tombstone
	current := r.state.Newest
	for _, m := range all {
		e, err := checkpoint.NewEvent(s.Store, journal.KindRebuild, r.session)
		if err != nil {
			return change, err
		}
		checkpoint.NameIn(&e, m.record, m.written.Commit)
		change.Events = append(change.Events, e)
		if m.entry.Pinned {
			pin, err := checkpoint.NewEvent(s.Store, journal.KindPin, r.session)
			if err != nil {
				return change, err
			}
			pin.Checkpoint, pin.Label = m.record.ID, m.record.Label
			pins = append(pins, pin)
		}
		if m.entry.Discarded {
			discarded = append(discarded, m.record.ID)
		}
		if m.entry.Checkpoint == current {
			current = m.record.ID
		}
		id, was := m.entry.Checkpoint, m.entry.Event()
		tombs = append(tombs, journal.Tombstone{ID: id, Commit: was.Commit, Record: was.Record, Reason: r.reason()})
		r.replaceRef(&change, m)
	}
	// Pins come before the prune. A pin that a tombstone does not know would void it.
	change.Events = append(change.Events, pins...)
	if len(discarded) > 0 && current != "" {
		e, err := checkpoint.NewEvent(s.Store, journal.KindRollback, r.session)
		if err != nil {
			return change, err
		}
		r.stay(&e, current, discarded)
		change.Events = append(change.Events, e)
	}
	if len(tombs) > 0 {
		e, err := checkpoint.NewEvent(s.Store, journal.KindPrune, r.session)
		if err != nil {
			return change, err
		}
		e.Reason, e.Tombstones = r.reason(), tombs
		change.Events = append(change.Events, e)
	}
	// Dead checkpoints that an interrupted expunge left: refs and notes go after the
	// journal.
	for _, id := range r.dead {
		change.Remove = append(change.Remove, store.Removal{ID: id})
		commit := r.held[r.state.StandIn(id)]
		if blob, err := s.Store.RecordBlob(ctx, commit); err == nil && commit != r.held[id] {
			change.Notes = append(change.Notes, store.NewNote{Commit: commit, RecordBlob: blob})
		}
	}
	return change, r.heldAlready(ctx, &change)
}

// replaceRef puts a new checkpoint where the old one was: a ref of its own, or the archive.
func (r *rewriting) replaceRef(change *store.Change, m *made) {
	id := m.entry.Checkpoint
	change.Remove = append(change.Remove, store.Removal{ID: id})
	change.Notes = append(change.Notes, store.NewNote{Commit: m.entry.Event().Commit})
	change.Verify = append(change.Verify, m.written.NewObjects...)
	if !r.archived[id] {
		change.Create = append(change.Create, store.NewCheckpoint{ID: m.record.ID, Commit: m.written.Commit, RecordBlob: m.written.RecordBlob})
		return
	}
	if change.Archive == nil {
		change.Archive = map[name.ID]name.OID{}
	}
	change.Archive[m.record.ID] = m.written.Commit
	change.Notes = append(change.Notes, store.NewNote{Commit: m.written.Commit, RecordBlob: m.written.RecordBlob})
}

// heldAlready leaves out the refs that an interrupted expunge has made. They have the same
// ids and the same commits. A ref with another commit was made for another goal and is
// replaced.
func (r *rewriting) heldAlready(ctx context.Context, change *store.Change) error {
	held, _, err := r.plan.s.Store.HeldOf(ctx, r.session)
	if err != nil {
		return err
	}
	create := change.Create
	change.Create = nil
	for _, c := range create {
		switch held[c.ID] {
		case "":
			change.Create = append(change.Create, c)
		case c.Commit:
			change.Notes = append(change.Notes, store.NewNote{Commit: c.Commit, RecordBlob: c.RecordBlob})
		default:
			if err := r.plan.s.Repo.Refs.Update(ctx, []git.Update{{Ref: name.CheckpointRef(r.session, c.ID), Old: held[c.ID]}}); err != nil {
				return err
			}
			change.Create = append(change.Create, c)
		}
	}
	return nil
}

// stay makes an event a rollback from a checkpoint to itself, which only discards others. It has no
// worktree, so it is not an undo level.
func (r *rewriting) stay(e *journal.Event, at name.ID, discard []name.ID) {
	e.Worktree, e.WorktreeID = "", ""
	e.From, e.To, e.Discard, e.Reason = at, at, discard, r.reason()
}

// stayWhereItWas makes sure that the current checkpoint, or its replacement, is current as
// before. New checkpoints come last in the journal, so the fold may choose another one.
func (r *rewriting) stayWhereItWas(ctx context.Context, st *journal.State, before map[name.ID]*made) error {
	want := r.state.Newest
	if m := before[want]; m != nil {
		want = m.record.ID
	}
	if want == "" || st.Newest == want {
		return nil
	}
	return checkpoint.Append(ctx, r.plan.s.Store, r.session, journal.KindRollback, func(e *journal.Event) { r.stay(e, want, nil) })
}
