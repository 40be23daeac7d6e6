package expunge

// A tool that rewrites history, such as `git filter-repo`, rewrites the commits of checkpoints
// too. Events go on naming the old ones, which are gone. Adopt makes checkpoints of the new
// ones in the way in which an expunge replaces checkpoints.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// Adoption says what a rewrite of history made of the checkpoints of a session.
type Adoption struct {
	Session name.Session
	From    map[name.ID]name.OID // the rewritten commits
	// As is the session that the checkpoints go to. It is another one if the journal was rewritten too.
	// State is then what that journal says.
	As    name.Session
	State *journal.State
}

// Adopt replaces the checkpoints in a.From by new ones with the rewritten content, and writes the
// later ones of the session again, so that the order stays. One that cannot be read is left out.
func Adopt(ctx context.Context, s *checkpoint.Service, a Adoption) ([]Rewritten, error) {
	list, err := clearance.ReadExpunged(s.Repo)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		p := &Plan{s: s, clean: map[name.OID]name.OID{}, answer: &Answer{}}
		r := &rewriting{plan: p, session: a.Session, as: a.As, from: a.From}
		if err := r.openRewritten(ctx, a); err != nil {
			return nil, err
		}
		if err := r.find(ctx); err != nil {
			return nil, err
		}
		err := r.apply(ctx, list)
		if !errors.Is(err, errMoved) || try >= checkpoint.Attempts {
			return p.answer.Checkpoints, err
		}
	}
}

// openRewritten is open for an adoption.
func (r *rewriting) openRewritten(ctx context.Context, a Adoption) (err error) {
	if a.As == a.Session {
		err = r.open(ctx)
	} else {
		r.state = a.State
		r.held, _, err = r.plan.s.Store.HeldOf(ctx, a.Session)
	}
	if err != nil {
		return err
	}
	for _, e := range r.state.Checkpoints() {
		switch commit := a.From[e.Checkpoint]; {
		case commit != "":
			r.held[e.Checkpoint] = commit
		case r.held[e.Checkpoint] != e.Event().Commit:
			delete(r.held, e.Checkpoint) // nobody agreed to what its ref has now
		}
	}
	return nil
}

// adoptable returns an error if a rewritten commit is not the checkpoint that it replaces.
func (r *rewriting) adoptable(ctx context.Context, o *old) error {
	rec, err := r.recordOf(ctx, o)
	if err != nil {
		return err
	}
	if rec.ID != o.entry.Checkpoint || rec.Session != r.session {
		return fmt.Errorf("its record belongs to %s of session %q", rec.ID, rec.Session)
	}
	return nil
}

// align makes the record and what is beside it follow the rewritten files and message. The tool knows a
// file by its path, and left its copies in index/, raw/ and conflicts/ alone.
func (r *rewriting) align(ctx context.Context, message string, d *store.Draft) error {
	repo, rec := r.plan.s.Repo, d.Record
	words, topic := record.Body(message)
	if was, of := record.Body(record.Message(rec, nil)); words != was || topic != of {
		rec.Message, rec.Topic = words, topic
	}
	var head name.OID
	if d.Head != "" {
		c, err := repo.Commits.Read(ctx, string(d.Head))
		switch {
		case errors.Is(err, git.ErrMissing): // git would not pack a ref that leads to it
			record.HeadDropped.Set(&rec.Git.Extra, true)
		case err != nil:
			return err
		}
		head = c.Tree
	}
	if rec.Git.Head = d.Head; head == "" {
		d.Head = ""
	}
	var failed error
	lacks := func(tree name.OID, path string) bool {
		_, found, err := repo.Trees.Lookup(ctx, tree, path)
		failed = errors.Join(failed, err)
		return tree == "" || err == nil && !found
	}
	gone := func(p record.Path) bool { return lacks(d.Tree, string(p)) }
	s := &rec.Snapshot
	maps.DeleteFunc(s.Modes, func(p record.Path, _ string) bool { return gone(p) })
	s.AtRisk = slices.DeleteFunc(s.AtRisk, func(a record.AtRisk) bool { return gone(a.Path) })
	s.Raw = slices.DeleteFunc(s.Raw, gone)
	maps.DeleteFunc(d.Raw, func(p string, _ name.OID) bool { return gone(record.Path(p)) })
	removed := func(p record.Path) bool { return gone(p) && lacks(head, string(p)) }
	rec.Git.Unmerged = slices.DeleteFunc(rec.Git.Unmerged, removed)
	d.Conflicts = slices.DeleteFunc(d.Conflicts, func(c git.Unmerged) bool { return removed(record.Path(c.Path)) })
	rec.Files.Drop(gone)
	if failed != nil || d.IndexTree == "" {
		return failed
	}
	return r.alignIndex(ctx, d, head, removed)
}

// alignIndex makes what was staged the difference from the rewritten HEAD: an entry that was that of
// HEAD stays that of HEAD, and a path that the tool removed is not staged.
func (r *rewriting) alignIndex(ctx context.Context, d *store.Draft, head name.OID, removed func(record.Path) bool) error {
	rec := d.Record
	changes, err := r.plan.s.Repo.Trees.Diff(ctx, head, d.IndexTree)
	if err != nil {
		return err
	}
	cut := record.StagedCut.IsIn(rec.Git.Extra)
	edits := map[string]git.Entry{}
	for _, c := range changes {
		p := record.Path(c.Path)
		taken := c.New.Mode != 0 && removed(p)
		if taken || !cut && !slices.Contains(rec.Git.Staged, p) {
			edits[c.Path] = git.Entry{Mode: c.Old.Mode, OID: c.Old.OID}
		}
		// A rollback must not delete the user's file there.
		if taken {
			rec.Snapshot.Skipped = append(rec.Snapshot.Skipped, record.Skipped{Path: p, Reason: reasonRewritten})
			rec.Snapshot.Complete = false
		}
	}
	if len(edits) > 0 {
		if d.IndexTree, err = r.plan.s.Repo.Trees.Edit(ctx, d.IndexTree, edits); err != nil {
			return err
		}
		rec.Git.Index = d.IndexTree
	}
	slices.SortFunc(rec.Snapshot.Skipped, byPath)
	return r.staged(ctx, d, head)
}

// begin returns the change that starts the session r.as: the replacements, and the events of the
// rewritten journal as far as they are about them.
func (r *rewriting) begin(all []*made) (store.Change, error) {
	change := store.Change{}
	by := map[name.ID]*made{}
	for _, m := range all {
		by[m.entry.Checkpoint] = m
		change.Create = append(change.Create, store.NewCheckpoint{ID: m.record.ID, Commit: m.written.Commit, RecordBlob: m.written.RecordBlob})
		change.Notes = append(change.Notes, store.NewNote{Commit: m.entry.Event().Commit})
		change.Verify = append(change.Verify, m.written.NewObjects...)
	}
	named := map[name.ID]bool{}
	for _, e := range r.state.Events() {
		if again, ok := retold(e, by, named); ok {
			again.Session = r.as
			change.Events = append(change.Events, again)
		}
	}
	// Pruned checkpoints may have decided which one is current, so an event says which one it is.
	if m := by[r.state.Newest]; m != nil {
		e, err := checkpoint.NewEvent(r.plan.s.Store, journal.KindRollback, r.as)
		if err != nil {
			return change, err
		}
		discarded := gather.List(gather.Those(all, func(m *made) bool { return m.entry.Discarded }), func(m *made) name.ID { return m.record.ID })
		r.stay(&e, m.record.ID, discarded)
		change.Events = append(change.Events, e)
	}
	return change, nil
}

// retold returns an event of a rewritten journal for the session that goes on, with the new ids. ok
// is false if it has no meaning there. An undo becomes a rollback, because the event that it took
// back has another id now; it remains a level that can be undone.
func retold(e *journal.Event, by map[name.ID]*made, named map[name.ID]bool) (again journal.Event, ok bool) {
	id := func(old name.ID) name.ID {
		if m := by[old]; m != nil && named[old] {
			return m.record.ID
		}
		return ""
	}
	ids := func(old []name.ID) (all []name.ID) {
		for _, o := range old {
			if of := id(o); of != "" {
				all = append(all, of)
			}
		}
		return all
	}
	again = *e
	again.OID, again.Parents, again.Undoes = "", nil, ""
	switch e.Kind {
	case journal.KindStart, journal.KindStatus, journal.KindClose, journal.KindSkip:
		return again, true
	case journal.KindCreate, journal.KindAdopt, journal.KindRebuild:
		m := by[e.Checkpoint]
		if m == nil || named[e.Checkpoint] {
			return again, false
		}
		named[e.Checkpoint] = true
		again.Kind = journal.KindAdopt
		checkpoint.NameIn(&again, m.record, m.written.Commit)
		return again, true
	case journal.KindPin, journal.KindUnpin, journal.KindResume:
		again.Checkpoint = id(e.Checkpoint)
		return again, again.Checkpoint != ""
	case journal.KindRollback, journal.KindUndo:
		again.Kind, again.From, again.To, again.Safety, again.Files = journal.KindRollback, id(e.From), id(e.To), id(e.Safety), id(e.Files)
		again.Discard, again.Restore = ids(e.Discard), ids(e.Restore)
		return again, again.To != ""
	}
	return again, false
}

// earlier returns the newest of the adopted checkpoints up to id, along Previous, or nil.
func (r *rewriting) earlier(id name.ID, adopted map[name.ID]*made) *made {
	for range r.state.Len() {
		if m := adopted[id]; m != nil {
			return m
		}
		e := r.state.Entry(id)
		if e == nil {
			break
		}
		id = e.Event().Previous
	}
	return nil
}
